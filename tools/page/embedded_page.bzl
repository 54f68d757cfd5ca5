"""A page of results as C++ source."""

def embedded_page(name):
    """page_template.h, which defines kPage from the package's page.html.

    Args:
      name: of the rule.
    """
    native.genrule(
        name = name,
        srcs = [
            "page.html",
            "//tools/page:common.js",
            "//tools/page:head.html",
            "//tools/page:style.css",
        ],
        outs = ["page_template.h"],
        cmd = "$(location //tools/page:embed_page) $(location page.html) " +
              "$(location //tools/page:head.html) " +
              "$(location //tools/page:style.css) " +
              "$(location //tools/page:common.js) > $@",
        exec_tools = ["//tools/page:embed_page"],
        visibility = ["//visibility:private"],
    )
