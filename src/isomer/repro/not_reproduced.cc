// The papers of which nothing is reproduced yet.

#include "isomer/repro/items.h"

namespace isomer {
namespace {

struct UnreproducedItem {
  const char* id;
  const char* title;
  const char* why_not;
};

std::vector<ReproItem> listed(std::initializer_list<UnreproducedItem> items) {
  std::vector<ReproItem> out;
  for (const auto& [id, title, why_not] : items) out.push_back({id, title, {}, why_not});
  return out;
}

constexpr const char* kMemoryOrder = "order and placement are not searched for peak memory";
constexpr const char* kPolicy = "there is no learned policy";
constexpr const char* kDevices = "graphs are not partitioned across devices";
constexpr const char* kSeveralDevices = "needs several devices, and graphs that are partitioned across them";
constexpr const char* kGnn = "there are no graph neural networks";

}  // namespace

std::vector<ReproItem> regal_items() {
  return listed({{"regal-t1", "REGAL, Table 1: peak memory by method", kMemoryOrder},
                 {"regal-t2", "REGAL, Table 2: seconds by method", kMemoryOrder},
                 {"regal-t3", "REGAL, Table 3: subsets of the policy's actions", kPolicy},
                 {"regal-f4", "REGAL, Figure 4: gain over BRKGA by graph", kPolicy},
                 {"regal-f5", "REGAL, Figure 5: gain by number of evaluations, TensorFlow graphs", kPolicy},
                 {"regal-f6", "REGAL, Figure 6: gain by number of evaluations, XLA graphs", kPolicy},
                 {"regal-f7", "REGAL, Figure 7: which actions the policy takes, and for which nodes", kPolicy},
                 {"regal-f8", "REGAL, Figure 8: gain by number of layers of the policy", kPolicy}});
}

std::vector<ReproItem> flexflow_items() {
  return listed(
      {{"flexflow-t3.4", "FlexFlow, Table 3.4: search time with full and delta simulation", kDevices},
       {"flexflow-f3.6", "FlexFlow, Figure 3.6: throughput of training by number of devices", kDevices},
       {"flexflow-f3.7", "FlexFlow, Figure 3.7: time, transfers and computation of NMT", kDevices},
       {"flexflow-f3.8", "FlexFlow, Figure 3.8: training curves of Inception-v3", "needs training on several devices"},
       {"flexflow-f3.9", "FlexFlow, Figure 3.9: strategies of ColocRL and OptCNN", kDevices},
       {"flexflow-f3.10", "FlexFlow, Figure 3.10: overview of DLRM", "a drawing, not a measurement"},
       {"flexflow-f3.11", "FlexFlow, Figure 3.11: training of DLRM and Candle Uno", kDevices},
       {"flexflow-f3.12", "FlexFlow, Figure 3.12: simulated and measured time", kSeveralDevices},
       {"flexflow-f3.13", "FlexFlow, Figure 3.13: search progress with full and delta simulation", kDevices},
       {"flexflow-f3.14", "FlexFlow, Figure 3.14: strategy for Inception-v3", kDevices},
       {"flexflow-f3.15", "FlexFlow, Figure 3.15: strategy for NMT", kDevices},
       {"flexflow-s3.7.5", "FlexFlow, Section 3.7.5: optimality of small strategies", kDevices}});
}

std::vector<ReproItem> roc_items() {
  return listed({{"roc-f4.4", "ROC, Figure 4.4: throughput of training on one device", kGnn},
                 {"roc-f4.5", "ROC, Figure 4.5: throughput of training compared with NeuGraph", kGnn},
                 {"roc-f4.6", "ROC, Figure 4.6: accuracy by time", kGnn},
                 {"roc-f4.7", "ROC, Figure 4.7: accuracy of deeper networks", kGnn},
                 {"roc-f4.8", "ROC, Figure 4.8: partitioning strategies", kGnn},
                 {"roc-f4.9", "ROC, Figure 4.9: inference on PPI", kGnn},
                 {"roc-f4.10", "ROC, Figure 4.10: memory management", kGnn}});
}

}  // namespace isomer
