// XML as a stream of elements, through expat: a file of any length needs the memory of its deepest element.
//
// Entities of a document's own are refused, and nothing outside the file is ever read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graphpae {

class XmlAttributes {
 public:
  explicit XmlAttributes(const char** pairs) : pairs_(pairs) {}
  // The value of an attribute by its name without a prefix ("xsi:type" is "type"), or `otherwise`.
  std::string_view get(std::string_view name, std::string_view otherwise = "") const;
  bool has(std::string_view name) const { return get(name, "\1") != "\1"; }

 private:
  const char** pairs_;  // name, value, name, value, ..., null
};

// What a reader does at elements. Their names come without a prefix ("viz:size" is "size").
class XmlHandler {
 public:
  virtual ~XmlHandler() = default;
  virtual void open(std::string_view element, const XmlAttributes& attributes) = 0;
  // `text` is what stands inside the element, but not inside an element in it.
  virtual void close(std::string_view element, std::string_view text) = 0;

  int64_t line = 0;  // of the element
};

// Calls the handler for every element. Throws a data error with file and line if the file is not well-formed; what the
// handler throws goes through.
void read_xml(const std::string& path, XmlHandler& handler);

// The name of the first element in `text`, the beginning of a file, without a prefix; "" if there is none.
std::string xml_root(std::string_view text);

}  // namespace graphpae
