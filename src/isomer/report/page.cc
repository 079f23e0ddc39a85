// The report as a page.

#include "isomer/report/page_data.h"

namespace isomer {

// Generated from the files in report/page.
extern const char* const kPageTemplate;
extern const char* const kPageStyle;
extern const char* const kPageScript;

namespace {

/// Replaces the only occurrence of `mark`.
void fill_in(std::string& page, std::string_view mark, std::string_view text) {
  page.replace(page.find(mark), mark.size(), text);
}

/// Returns JSON for a script element. In JSON, `<` occurs only in strings; without it, nothing can end the element.
std::string script_json(const nlohmann::json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string html_page(const OptimizeReport& report) {
  std::string page = kPageTemplate;
  fill_in(page, "/*STYLE*/", kPageStyle);
  fill_in(page, "/*SCRIPT*/", kPageScript);
  // The data comes last, so that no mark is searched for in names of the model.
  fill_in(page, "/*DATA*/", script_json(page_data(report)));
  return page;
}

}  // namespace isomer
