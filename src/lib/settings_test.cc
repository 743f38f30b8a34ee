// Variables that are numbers of bytes.
#include <gtest/gtest.h>

#include <cstdlib>

#include "lib/device_settings.h"

namespace mrc::lib {
namespace {

Result<DeviceSettings> with(const char* name, const char* value) {
  ::setenv(name, value, 1);
  auto read = read_device_settings();
  ::unsetenv(name);
  return read;
}

TEST(Settings, BytesHaveUnits) {
  const auto plain = with("MRC_CC", "constant:131072"), unit = with("MRC_CC", "constant:128K");
  ASSERT_TRUE(plain && unit);
  EXPECT_EQ(plain->cc_window, 131072u);
  EXPECT_EQ(unit->cc_window, 131072u);
  EXPECT_EQ(unit->cc, engine::CcAlgorithm::constant);
  const auto sack = with("MRC_SACK_BYTES", "64K");
  ASSERT_TRUE(sack);
  EXPECT_EQ(sack->sack_bytes, 65536u);
}

TEST(Settings, WhatIsNoneIsSaidWithARemedy) {
  for (const char* value :
       {"constant", "constant:", "constant:4K", "constant:8G", "constant:many", "fast", ""}) {
    const auto s = with("MRC_CC", value);
    ASSERT_FALSE(s) << value;
    EXPECT_NE(s.error().what.find("MRC_CC: '" + std::string(value) + "'"), std::string::npos)
        << s.error().what;
    EXPECT_NE(s.error().what.find("such as constant:128K"), std::string::npos) << s.error().what;
  }
  for (const char* value : {"1", "2M", "64Q"}) {
    const auto s = with("MRC_SACK_BYTES", value);
    ASSERT_FALSE(s) << value;
    EXPECT_NE(s.error().what.find("from 1024 to 1048576: write it as 65536, 64K"), std::string::npos)
        << s.error().what;
  }
}

}  // namespace
}  // namespace mrc::lib
