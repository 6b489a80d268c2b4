#include "page/document.h"

#include "page/foreign_text.h"

namespace fullgraph::embedded {
extern const std::string_view base_style;
extern const std::string_view theme_script;
}  // namespace fullgraph::embedded

namespace fullgraph::page {

std::string document(const Document& document) {
  std::string out =
      "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">"
      "<meta name=viewport content=\"width=device-width, initial-scale=1\"><title>";
  out += escaped(document.title);
  out += "</title><style>\n";
  out += embedded::base_style;
  out += document.style;
  out += "</style></head><body>";
  out += document.body;
  out += "<script>\n";
  out += embedded::theme_script;
  for (const std::string_view script : document.scripts) out += script;
  return out + "</script></body></html>\n";
}

}  // namespace fullgraph::page
