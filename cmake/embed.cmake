# Writes a header that holds text files as string literals:
#   cmake -DOUTPUT=header -DSYMBOL=kName -DBASE=directory -DFILES=a.yaml;b.yaml -P embed.cmake
# gives `inline constexpr std::pair<std::string_view, std::string_view> kName[] = {{"a", "..."}, ...};`
set(content "#pragma once\n#include <string_view>\n#include <utility>\n\nnamespace graphpae {\n\n")
string(APPEND content "inline constexpr std::pair<std::string_view, std::string_view> ${SYMBOL}[] = {\n")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  get_filename_component(directory "${file}" DIRECTORY)
  if(BASE AND NOT directory STREQUAL BASE)  # a file of a subdirectory is called DIRECTORY/NAME
    file(RELATIVE_PATH directory "${BASE}" "${directory}")
    set(name "${directory}/${name}")
  endif()
  file(READ "${file}" text)
  string(APPEND content "    {\"${name}\", R\"yaml(${text})yaml\"},\n")
endforeach()
string(APPEND content "};\n\n}  // namespace graphpae\n")
file(WRITE "${OUTPUT}" "${content}")
