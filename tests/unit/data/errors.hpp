#pragma once

#include <string>

#include "support/catch.hpp"

/// The message of the `Error` that `act` throws; empty when it throws nothing.
template <class Error, class Act>
std::string message_of(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline auto mentions(const std::string& part) {
  return Catch::Matchers::Contains(part);
}
