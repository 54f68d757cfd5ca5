"""system_library: one library that Debian installs under /usr."""

load("@system_versions//:digest.bzl", "VERSIONS_DIGEST")

def _system_library_impl(ctx):
    compilation = cc_common.create_compilation_context(
        system_includes = depset(ctx.attr.system_includes),
        defines = depset(ctx.attr.defines + ["TW_THIRD_PARTY=" + VERSIONS_DIGEST]),
    )
    linking = cc_common.create_linking_context(linker_inputs = depset([
        cc_common.create_linker_input(
            owner = ctx.label,
            user_link_flags = depset(ctx.attr.linkopts),
        ),
    ]))
    own = CcInfo(compilation_context = compilation, linking_context = linking)
    return [
        DefaultInfo(),
        cc_common.merge_cc_infos(
            direct_cc_infos = [own],
            cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
        ),
    ]

system_library = rule(
    implementation = _system_library_impl,
    doc = "Headers the compiler finds by itself, plus what to link.",
    attrs = {
        "system_includes": attr.string_list(doc = "absolute, under /usr/include"),
        "defines": attr.string_list(),
        "linkopts": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
    },
    provides = [CcInfo],
)
