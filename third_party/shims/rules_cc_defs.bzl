"""rules_cc for Bazel 4.2.3: the native rules under their public names.

Debian's bazel-rules-cc asks for a newer Bazel.
"""

cc_binary = native.cc_binary
cc_test = native.cc_test
cc_library = native.cc_library
cc_import = native.cc_import
cc_proto_library = native.cc_proto_library
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
fdo_prefetch_hints = native.fdo_prefetch_hints
fdo_profile = native.fdo_profile
objc_import = native.objc_import
objc_library = native.objc_library
