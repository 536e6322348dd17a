// EXPECT_ERROR(statement, kind, part): the statement throws graphpae::Error of that kind, in one line that
// contains `part`.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "graphpae/core/error.h"

#define EXPECT_ERROR(statement, expected_kind, part)                                               \
  try {                                                                                            \
    statement;                                                                                     \
    ADD_FAILURE() << "expected an error with '" << (part) << "'";                                  \
  } catch (const graphpae::Error& error) {                                                         \
    EXPECT_EQ(error.kind(), expected_kind) << error.what();                                        \
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << "got: " << error.what(); \
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "more than one line";    \
  }

#define EXPECT_DATA_ERROR(statement, part) EXPECT_ERROR(statement, graphpae::ErrorKind::data, part)
#define EXPECT_USAGE_ERROR(statement, part) EXPECT_ERROR(statement, graphpae::ErrorKind::usage, part)
