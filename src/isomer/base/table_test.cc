#include "isomer/base/table.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

TEST(Table, AlignsColumns) {
  Table table({"<op", ">count", "<note"});
  table.row({"Conv", "12", "x"});
  table.row(
      {"Gr\xC3\xB6\xC3\x9F"
       "e",
       "3"});
  EXPECT_EQ(table.str(),
            "op     count  note\n"
            "Conv      12  x\n"
            "Gr\xC3\xB6\xC3\x9F"
            "e      3\n");
}

TEST(Table, Numbers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(-123), "-123");
  EXPECT_EQ(metric(0), "0");
  EXPECT_EQ(metric(999.6), "1 k");
  EXPECT_EQ(metric(1.234e9), "1.23 G");
  EXPECT_EQ(byte_str(1023), "1023 B");
  EXPECT_EQ(byte_str(1536), "1.5 KiB");
  EXPECT_EQ(byte_str(1048576.0 * 20.25), "20.2 MiB");
}

}  // namespace
}  // namespace isomer
