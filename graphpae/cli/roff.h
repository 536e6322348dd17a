// Pieces of a manual page in roff, with the macros of man(7).
#pragma once

#include <string>

namespace graphpae::cli {

// Text that roff prints as it is; dashes stay ASCII, as flags need it.
std::string roff_text(const std::string& text);

std::string roff_section(const std::string& title);     // .SH
std::string roff_subsection(const std::string& title);  // .SS
std::string roff_paragraph(const std::string& text);    // .PP
// A term in bold and what it means, indented. The words of the term that are in capitals are italic.
std::string roff_item(const std::string& term, const std::string& meaning);
std::string roff_example(const std::string& command);

}  // namespace graphpae::cli
