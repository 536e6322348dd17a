// Error: the one exception type of the library, with a kind that becomes the program's exit code.
//
// A message is one line that names the file, line or array, what was found and what was expected:
//   throw data_error("penn94.mat: edge 17: node 99 is outside 0..49");
#pragma once

#include <stdexcept>
#include <string>

namespace graphpae {

// The values are the exit codes of the program.
enum class ErrorKind {
  internal = 1,       // a bug in graphpae
  usage = 2,          // wrong options or settings
  data = 3,           // unreadable or invalid input
  numerical = 4,      // no convergence, a loss that is not finite
  memory = 5,         // the work does not fit
  interrupted = 130,  // stopped by the user, after saving
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exit_code() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

inline Error usage_error(const std::string& message) { return {ErrorKind::usage, message}; }
inline Error data_error(const std::string& message) { return {ErrorKind::data, message}; }
inline Error numerical_error(const std::string& message) { return {ErrorKind::numerical, message}; }
inline Error memory_error(const std::string& message) { return {ErrorKind::memory, message}; }

// Runs `make`; an error that does not start with `source` (a file name) gets it in front. The core knows
// rows and columns, only a reader knows the file.
template <class Make>
auto naming(const std::string& source, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    if (std::string(error.what()).starts_with(source)) throw;
    throw Error(error.kind(), source + ": " + error.what());
  }
}

}  // namespace graphpae
