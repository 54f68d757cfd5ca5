"""Every external repository, all of them local: nothing is downloaded.

Serves this workspace and those that build single libraries of it (examples/).
"""

load("//third_party:versions.bzl", "system_versions")

def _local_files_impl(ctx):
    ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % ctx.name)
    for label, path in ctx.attr.files.items():
        if path != "BUILD":
            ctx.file(path.rpartition("/")[0] + "/BUILD" if "/" in path else "BUILD")
    for label, path in ctx.attr.files.items():
        ctx.symlink(label, path)
    for target, path in ctx.attr.links.items():
        if not ctx.path(target).exists:
            fail(target + " is missing: run ./bazelw, which installs it.")
        ctx.symlink(target, path)

_local_files = repository_rule(
    implementation = _local_files_impl,
    doc = "A repository made of files of this one and of links into the system.",
    attrs = {
        "files": attr.label_keyed_string_dict(doc = "file here -> path there"),
        "links": attr.string_dict(doc = "absolute path -> path there"),
    },
    local = True,
)

def tilewright_repositories():
    """Declares what Bazel and //third_party need."""
    native.local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")
    native.local_repository(name = "rules_proto", path = "/usr/share/bazel/rules/proto")
    native.local_repository(name = "bazel_skylib", path = "/usr/share/bazel/tools/skylib")
    native.local_repository(name = "platforms", path = "/usr/share/bazel/platforms")
    _local_files(
        name = "rules_cc",
        files = {Label("//third_party/shims:rules_cc_defs.bzl"): "cc/defs.bzl"},
    )
    _local_files(
        name = "remote_coverage_tools",
        files = {Label("//third_party/shims:coverage_tools.BUILD"): "BUILD"},
    )
    _local_files(
        name = "system_lld",
        files = {Label("//third_party/shims:lld.BUILD"): "BUILD"},
        links = {"/usr/lib/llvm-19/include/lld": "include/lld"},
    )
    system_versions(
        name = "system_versions",
        packages = Label("//third_party:debian-packages.txt"),
    )
