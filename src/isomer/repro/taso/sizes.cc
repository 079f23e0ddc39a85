// Figure 2.11: do larger substitutions find faster graphs?

#include "isomer/repro/taso/rule_size.h"
#include "isomer/repro/taso/taso.h"

namespace isomer {
namespace {

struct PublishedSizes {
  const char* network;
  const char* by_size[4];  ///< what the text says about substitutions of at most so many operators
};
constexpr PublishedSizes kPublishedSizes[] = {
    {"resnext50", {"", "faster", "faster", "as with 3"}},
    {"nasnet-a", {"", "faster", "faster", "1.2 times as fast as with 3"}},
    {"bert-8", {"", "faster", "faster", "as with 3"}},
};

std::vector<Rule> rules_up_to(const std::vector<Rule>& rules, int size) {
  std::vector<Rule> out;
  for (const Rule& rule : rules)
    if (size_of(rule) <= size) out.push_back(rule);
  return out;
}

Result<ExperimentResult> run_sizes(const ReproOptions& options) {
  ISOMER_TRY(const EmbeddedRules rules, discovered_rules());
  ExperimentResult out{.columns = {{"network"},
                                   {"operators"},
                                   {"rules"},
                                   {"published"},
                                   {"before", "us", 1},
                                   {"after", "us", 1},
                                   {"speedup", "x", 3},
                                   {"search", "CPU s"},
                                   {"ended"}},
                       .differences = taso_differences(rules),
                       .hashes = rules.digests};
  Chart chart{.title = "Predicted speedup by the size of substitutions",
              .x = {"maximum number of operators of a substitution"},
              .y = {"speedup over the network", "x"}};
  for (const auto& [name, by_size] : kPublishedSizes) {
    if (!options.includes(name)) continue;
    ISOMER_TRY(const StartNetwork network, start_network(name));
    out.hashes[name] = network.hash();
    ChartSeries series{name, {}};
    for (int size = 1; size <= 4; ++size) {
      options.observer.progress(fmt::format("{}: substitutions of at most {} operators", name, size));
      const std::vector<Rule> chosen = rules_up_to(rules.rules, size);
      ISOMER_TRY(const Searched found, search_by_roofline(network, chosen, v100().roofline, taso_search(), options));
      out.row({name, size, chosen.size(), by_size[size - 1], found.before.latency_us, found.after.latency_us,
               found.speedup(), found.cpu_seconds, found.ended()});
      series.points.push_back({static_cast<double>(size), found.speedup(), found.cut_off()});
    }
    chart.series.push_back(std::move(series));
  }
  out.pictures = {std::move(chart)};
  out.notes = {
      "The size of a substitution is the number of operators of its larger side. Where it stands for any number "
      "of siblings, two are counted.",
      fmt::format("{} of the rules are larger than four operators and not used.",
                  rules.rules.size() - rules_up_to(rules.rules, 4).size()),
      "The published curves are not printed as numbers, but for NasNet-A's 1.2x from size 3 to 4."};
  return out;
}

}  // namespace

Experiment taso_sizes() { return {run_sizes, networks_of(kPublishedSizes)}; }

}  // namespace isomer
