#include "isomer/repro/taso/taso.h"

#include "isomer/repro/items.h"

namespace isomer {

SearchOptions taso_search() { return backtracking(1.05, 0, 100000); }

std::vector<Difference> taso_differences(const EmbeddedRules& rules) {
  return {{"engine", fmt::format("predicted by {}; the paper measures kernels of cuDNN on the GPU", v100().text())},
          {"rules", fmt::format("{} rules of {}, found by this program's own enumeration; the paper has 743 that it "
                                "generated",
                                rules.rules.size(), rules.files())},
          {"search", "ends after 100,000 graphs; the paper does not say after how many"}};
}

std::vector<ReproItem> taso_items() {
  return {
      {"taso-t2.1", "TASO, Table 2.1: operators", {}, "a list, not a measurement"},
      {"taso-t2.2",
       "TASO, Table 2.2: 43 operator properties",
       {},
       "TASO assumes these; here they are theorems: `isomer rules verify --rules tests/proofs/taso_properties.rules`"},
      {"taso-t2.3",
       "TASO, Table 2.3: substitutions that are left after pruning",
       {},
       "bench/discovery.py measures it; docs/measurements/discovery.md has the results"},
      {"taso-f2.7",
       "TASO, Figure 2.7: latency of networks, compared with other frameworks",
       {},
       "needs a GPU with TensorRT, TensorFlow and TVM"},
      {"taso-f2.9d", "TASO, Figure 2.9d: time of 32 convolutions by the size of their groups", taso_groups(), "", true},
      {"taso-f2.10", "TASO, Figure 2.10: which substitutions are used for which network", taso_uses(), "", true},
      {"taso-f2.11", "TASO, Figure 2.11: speedup by the size of the substitutions", taso_sizes(), "", true},
      {"taso-f2.12", "TASO, Figure 2.12: substitutions and layouts, together and one after the other", taso_layouts()},
      {"taso-s2.9.6",
       "TASO, Section 2.9.6: time of generation and verification",
       {},
       "bench/discovery.py measures the generation, and docs/measurements/discovery.md has the results; verification "
       "is "
       "not timed"},
  };
}

}  // namespace isomer
