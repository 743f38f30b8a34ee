// The world failed (a system call, a file, a setting): a value or an error that says what to do.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace mrc {

/// `code` is an errno value; `what` is a sentence for a person, with the remedy where there is one.
struct Error {
  int code = 0;
  std::string what;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { MRC_CHECK(*this); return *std::get_if<0>(&state_); }
  const T& operator*() const& { MRC_CHECK(*this); return *std::get_if<0>(&state_); }
  T&& operator*() && { MRC_CHECK(*this); return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }
  const Error& error() const { MRC_CHECK(!*this); return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

/// For work that yields nothing but success.
struct Done {};
using Status = Result<Done>;

}  // namespace mrc
