#include "graphpae/data/xml.h"

#include <expat.h>
#include <fmt/format.h>

#include <cctype>
#include <exception>
#include <memory>
#include <type_traits>

#include "graphpae/core/error.h"
#include "graphpae/io/input_file.h"

namespace graphpae {
namespace {

constexpr size_t kXmlBlock = size_t{1} << 18;
constexpr size_t kDeepest = 10000;
constexpr size_t kLongestXmlText = size_t{1} << 26;

std::string_view without_prefix(std::string_view name) {
  const size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

// One parse. Exceptions must not pass through expat, which is C: they wait until it has returned.
class XmlParse {
 public:
  XmlParse(const std::string& path, XmlHandler& handler)
      : path_(path), handler_(handler), parser_(XML_ParserCreate(nullptr), &XML_ParserFree) {
    if (!parser_) throw memory_error(fmt::format("{}: no memory to parse XML", path));
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), &on_open, &on_close);
    XML_SetCharacterDataHandler(parser_.get(), &on_text);
    XML_SetEntityDeclHandler(parser_.get(), &on_entity);
  }

  void run() {
    InputFile file(path_);
    std::vector<char> block(kXmlBlock);
    for (bool at_end = false; !at_end;) {
      const size_t got = file.read(block.data(), block.size());
      at_end = got < block.size();
      const XML_Status status = XML_Parse(parser_.get(), block.data(), static_cast<int>(got), at_end);
      if (failure_) std::rethrow_exception(failure_);
      if (status != XML_STATUS_OK)
        throw error(fmt::format("not well-formed XML: {}", XML_ErrorString(XML_GetErrorCode(parser_.get()))));
    }
  }

 private:
  Error error(const std::string& message) const {
    return data_error(fmt::format("{}:{}: {}", path_, XML_GetCurrentLineNumber(parser_.get()), message));
  }

  template <class Work>
  void guarded(const Work& work) {
    if (failure_) return;
    handler_.line = static_cast<int64_t>(XML_GetCurrentLineNumber(parser_.get()));
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }

  static void on_open(void* self, const XML_Char* name, const XML_Char** pairs) {
    XmlParse& parse = *static_cast<XmlParse*>(self);
    parse.guarded([&] {
      if (parse.texts_.size() >= kDeepest)
        throw parse.error(fmt::format("elements are nested deeper than {}", kDeepest));
      parse.texts_.emplace_back();
      parse.handler_.open(without_prefix(name), XmlAttributes(pairs));
    });
  }
  static void on_close(void* self, const XML_Char* name) {
    XmlParse& parse = *static_cast<XmlParse*>(self);
    parse.guarded([&] {
      const std::string text = std::move(parse.texts_.back());
      parse.texts_.pop_back();
      parse.handler_.close(without_prefix(name), text);
    });
  }
  static void on_text(void* self, const XML_Char* text, int length) {
    XmlParse& parse = *static_cast<XmlParse*>(self);
    parse.guarded([&] {
      if (parse.texts_.empty()) return;
      if (parse.texts_.back().size() > kLongestXmlText) throw parse.error("a text of more than 64 MB");
      parse.texts_.back().append(text, static_cast<size_t>(length));
    });
  }
  static void on_entity(void* self, const XML_Char* name, int, const XML_Char*, int, const XML_Char*, const XML_Char*,
                        const XML_Char*, const XML_Char*) {
    XmlParse& parse = *static_cast<XmlParse*>(self);
    parse.guarded([&] { throw parse.error(fmt::format("declares an entity '{}'; entities are not read", name)); });
  }

  const std::string& path_;
  XmlHandler& handler_;
  std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser_;
  std::vector<std::string> texts_;  // of the open elements
  std::exception_ptr failure_;
};

}  // namespace

std::string_view XmlAttributes::get(std::string_view name, std::string_view otherwise) const {
  for (const char** pair = pairs_; *pair != nullptr; pair += 2) {
    if (without_prefix(pair[0]) == name) return pair[1];
  }
  return otherwise;
}

void read_xml(const std::string& path, XmlHandler& handler) { XmlParse(path, handler).run(); }

std::string xml_root(std::string_view text) {
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    if (text.substr(at).starts_with("<!--")) {
      at = text.find("-->", at);
      if (at == std::string_view::npos) return "";
      continue;
    }
    size_t end = at + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == ':')) ++end;
    if (end > at + 1) return std::string(without_prefix(text.substr(at + 1, end - at - 1)));
  }
  return "";
}

}  // namespace graphpae
