#include "graphpae/cli/roff.h"

#include <fmt/format.h>

#include <algorithm>

namespace graphpae::cli {
namespace {

// Parts between backquotes are bold.
std::string with_commands(const std::string& text) {
  std::string result;
  bool inside = false;
  for (size_t at = 0; at <= text.size();) {
    const size_t quote = std::min(text.find('`', at), text.size());
    const std::string part = roff_text(text.substr(at, quote - at));
    result += inside ? "\\fB" + part + "\\fR" : part;
    inside = !inside;
    at = quote + 1;
  }
  return result;
}

// A full stop or an apostrophe at the start of a line would be a request.
std::string line(const std::string& text) {
  return (!text.empty() && (text[0] == '.' || text[0] == '\'') ? "\\&" : "") + text + "\n";
}

}  // namespace

std::string roff_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '\'')
      result += "\\(aq";
    else if (c == '`')
      result += "\\(ga";
    else if (c == '^')
      result += "\\(ha";
    else if (c == '~')
      result += "\\(ti";
    else if (c == '|')
      result += "|\\:";  // a line may end here
    else
      result += c;
  }
  return result;
}

std::string roff_section(const std::string& title) { return fmt::format(".SH {}\n", roff_text(title)); }

std::string roff_subsection(const std::string& title) { return fmt::format(".SS {}\n", roff_text(title)); }

std::string roff_paragraph(const std::string& text) { return ".PP\n" + line(with_commands(text)); }

std::string roff_item(const std::string& term, const std::string& meaning) {
  const size_t space = term.starts_with('-') ? term.rfind(' ') : std::string::npos;
  const bool has_value = space != std::string::npos && !term.substr(space + 1).starts_with('-');
  const std::string names = roff_text(has_value ? term.substr(0, space) : term);
  const std::string value = has_value ? fmt::format(" \\fI{}\\fR", roff_text(term.substr(space + 1))) : "";
  return fmt::format(".TP\n\\fB{}\\fR{}\n", names, value) + line(with_commands(meaning));
}

std::string roff_example(const std::string& command) {
  return fmt::format(".PP\n.RS 4\n.EX\n{}\n.EE\n.RE\n", roff_text(command));
}

}  // namespace graphpae::cli
