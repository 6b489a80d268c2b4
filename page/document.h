// One page that is complete in itself: it loads nothing and sends nothing, whatever a text may have slipped into it.
// All pages that fullgraph writes look alike (base.css) and can be switched between light and dark (theme.js).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fullgraph::page {

struct Document {
  std::string title;                      // text
  std::string_view style;                 // what the page has besides base.css
  std::string_view body;                  // HTML
  std::vector<std::string_view> scripts;  // run in this order, in one scope, when the body is there
};

std::string document(const Document& document);

}  // namespace fullgraph::page
