#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace mrc {
namespace {

TEST(Json, NestsAndSeparates) {
  JsonWriter json;
  json.begin_object()
      .field("a", 1)
      .begin_array("b")
      .value(2)
      .value("x")
      .begin_object()
      .end_object()
      .end_array();
  json.field("c", true).begin_object("d").field("e", -5).end_object().end_object();
  EXPECT_EQ(json.text(), R"({"a":1,"b":[2,"x",{}],"c":true,"d":{"e":-5}})");
}

TEST(Json, StringsAreEscaped) {
  JsonWriter json;
  json.value(std::string_view("a\"b\\c\n\0", 7));
  EXPECT_EQ(json.text(), R"("a\"b\\c\u000a\u0000")");
}

TEST(Json, NumbersKeepTheirValue) {
  JsonWriter json;
  json.begin_array()
      .value(UINT64_MAX)
      .value(INT64_MIN)
      .value(0.1)
      .value(1e300)
      .value(std::nan(""))
      .end_array();
  EXPECT_EQ(json.text(), "[18446744073709551615,-9223372036854775808,0.1,1e+300,null]");
}

TEST(Json, ClearBeginsAnew) {
  JsonWriter json;
  json.value(1);
  json.clear();
  json.value(2);
  EXPECT_EQ(json.text(), "2");
}

}  // namespace
}  // namespace mrc
