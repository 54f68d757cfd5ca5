"""A page of results as C++ source."""

def embedded_page(name, function):
    """page_template.cc, from the package's page.html.

    The package has a page_template.h that declares what it defines.

    Args:
      name: of the rule.
      function: what gives the page; in namespace tilewright::tools.
    """
    native.genrule(
        name = name,
        srcs = [
            "page.html",
            "//tools/page:common.js",
            "//tools/page:head.html",
            "//tools/page:style.css",
        ],
        outs = ["page_template.cc"],
        cmd = "$(location //tools/page:embed_page) $(location page.html) " +
              "$(location //tools/page:head.html) " +
              "$(location //tools/page:style.css) " +
              "$(location //tools/page:common.js) " +
              native.package_name() + "/page_template.h " + function +
              " > $@",
        exec_tools = ["//tools/page:embed_page"],
        visibility = ["//visibility:private"],
    )
