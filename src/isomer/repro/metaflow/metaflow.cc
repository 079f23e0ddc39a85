#include "isomer/repro/metaflow/metaflow.h"

#include "isomer/base/table.h"
#include "isomer/repro/items.h"

namespace isomer {

std::vector<Difference> metaflow_differences(const DescribedDevice& device, const EmbeddedRules& rules) {
  return {
      {"engine", fmt::format("predicted by {}; the paper measures kernels of cuDNN on the GPU", device.text())},
      {"rules", fmt::format("{} single-step rules of {}; the paper has 14 substitutions, which it does not list",
                            rules.rules.size(), rules.files())},
  };
}

Difference part_limit() {
  return {"limit",
          fmt::format("a part ends after {} graphs; the paper's ends when no graph is left", grouped(kPartGraphs))};
}

std::vector<ReproItem> metaflow_items() {
  return {
      {"metaflow-t2", "MetaFlow, Table 2: costs of networks by dimension, before and after", metaflow_costs()},
      {"metaflow-t3", "MetaFlow, Table 3: backtracking and exhaustive search", metaflow_searches()},
      {"metaflow-f5",
       "MetaFlow, Figure 5: latency of networks, compared with other frameworks",
       {},
       "needs a GPU with TensorRT and TensorFlow"},
      {"metaflow-f6", "MetaFlow, Figure 6: subgraphs of Inception-v3", metaflow_blocks(), "", true},
      {"metaflow-f7", "MetaFlow, Figure 7: an Inception module on two devices", metaflow_devices()},
      {"metaflow-f8",
       "MetaFlow, Figure 8: latency of networks, compared with TVM",
       {},
       "needs a GPU with kernels tuned by TVM"},
      {"metaflow-f9", "MetaFlow, Figure 9: throughput of training", metaflow_training(), "", true},
      {"metaflow-f10", "MetaFlow, Figure 10: cost and search time by alpha", metaflow_alphas(), "", true},
  };
}

}  // namespace isomer
