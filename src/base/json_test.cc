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

TEST(Json, WhatIsNoUtf8IsReplaced) {
  const auto quoted = [](std::string_view v) { return JsonWriter().value(v).text(); };
  for (const char* good : {"gr\u00f6\u00dfe", "\u2192", "\U0001F600", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"})
    EXPECT_EQ(quoted(good), '"' + std::string(good) + '"');
  EXPECT_EQ(quoted("a\xFF"
                   "b"),
            R"("a\ufffdb")");
  EXPECT_EQ(quoted("\xC3"), R"("\ufffd")") << "cut short";
  EXPECT_EQ(quoted("\xC3\"x"), R"("\ufffd\"x")") << "what follows is escaped all the same";
  for (const char* bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"})
    EXPECT_EQ(quoted(bad).find(bad[0]), std::string::npos);
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
