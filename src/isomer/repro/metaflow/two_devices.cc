// Figure 7: does another device get another graph?

#include "isomer/repro/metaflow/metaflow.h"

namespace isomer {
namespace {

constexpr const char* kModule = "inception-e-1";

struct PublishedChoice {
  DescribedDevice device;
  const char* enlarges;  ///< whether 1x3 and 3x1 kernels become 3x3 kernels
};

bool enlarges(const Searched& found) {
  const auto uses = found.uses();
  return uses.contains("enlarge-row") || uses.contains("enlarge-column");
}

Result<ExperimentResult> run_devices(const ReproOptions& options) {
  ISOMER_TRY(const EmbeddedRules rules, benchmark_rules());
  ExperimentResult out{.columns = {{"device"},
                                   {"published: kernels enlarged"},
                                   {"kernels enlarged"},
                                   {"before", "us", 1},
                                   {"after", "us", 1},
                                   {"kernels before"},
                                   {"kernels after"},
                                   {"substitutions"},
                                   {"ended"}},
                       .hashes = rules.digests};
  ISOMER_TRY(const StartNetwork network, start_network(kModule));
  out.hashes[kModule] = network.hash();
  const SearchOptions search = backtracking(1.05, 0, 100000);
  for (const PublishedChoice& published : {PublishedChoice{v100(), "yes"}, PublishedChoice{k80(), "no"}}) {
    options.observer.progress(published.device.name);
    out.differences = metaflow_differences(published.device, rules);
    ISOMER_TRY(const Searched found,
               search_by_roofline(network, rules.rules, published.device.roofline, search, options));
    out.row({published.device.name, published.enlarges, enlarges(found) ? "yes" : "no", found.before.latency_us,
             found.after.latency_us, found.before.kernels, found.after.kernels, text_of(found.uses()), found.ended()});
  }
  out.differences.front().text = fmt::format(
      "predicted by {} and by {}; the paper measures kernels of cuDNN on the GPUs", v100().text(), k80().text());
  out.notes = {
      "To merge a 1x3 and a 3x1 kernel of the module, both become 3x3 kernels. That pays only if their zeros are read "
      "and multiplied in less time than the merge saves."};
  return out;
}

}  // namespace

Experiment metaflow_devices() { return {run_devices, {kModule}}; }

}  // namespace isomer
