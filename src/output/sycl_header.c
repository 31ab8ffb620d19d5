/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header of `devimg sycl header`, and what is said of it.
 *
 * In its text, $P is the prefix of macros, $N the namespace, $T the targets, $S the sizes ("16, 32"),
 * $L the same without blanks, $C the condition on `size`, $D that on `Size`, $M that on a macro's N,
 * $R a check of each size that only some accept, with the targets that refuse it, $A the anchor.
 *
 * Sources of what compilers do: DPC++ defines SYCL_LANGUAGE_VERSION itself, in the host pass as well,
 * and evaluates the attribute's argument in both (measured: intel/llvm 2026.2); AdaptiveCpp defines
 * __ACPP__ and its former names (its doc/macros.md). GCC, Clang and nvcc skip the arguments of an
 * attribute they do not know, but evaluate those of "aligned", which is harmless with 1. Only on x86
 * do names of C have a prefix (Microsoft, "Decorated names").
 */
#include <inttypes.h>
#include <string.h>

#include "base/write.h"
#include "output/escape.h"
#include "output/form.h"
#include "output/record.h"
#include "output/sycl.h"
#include "output/text.h"
#include "sycl/header.h"

static const char mark[] = "/* Written by devimg sycl header. */\n";

static const char top[] =
    "/* Do not edit: write it anew where the targets change, and let `devimg sycl header --check` say\n"
    " * so. Sizes: $S. Held to:\n"
    "$T"
    " */\n"
    "#ifndef $P_SYCL_H\n"
    "#define $P_SYCL_H\n"
    "\n"
    "#define $P_SUB_GROUP_TARGETS \\\n    \"$t\"\n"
    "#define $P_SUB_GROUP_SIZES \"$L\"\n"
    "#define $P_SUB_GROUP_SIZE_ALLOWED(N) ($M)\n"
    "\n";

/* Only where an anchor was asked for. */
static const char ask[] =
    "/* What includes this header is linked with the device images: they lie in an object of a\n"
    " * library, which link.exe takes for this symbol alone (`devimg sycl anchor`). */\n"
    "#if defined(_MSC_VER) && !defined(__SYCL_DEVICE_ONLY__) && !defined(DEVIMG_NO_ANCHOR)\n"
    "#ifdef _M_IX86\n"
    "#pragma comment(linker, \"/include:_$A\")\n"
    "#else\n"
    "#pragma comment(linker, \"/include:$A\")\n"
    "#endif\n"
    "#endif\n"
    "\n";

static const char rest[] =
    "#ifdef __cplusplus\n"
    "\n"
    "/* AdaptiveCpp has no such attribute: the macro is empty there. DPC++ reads it in both passes. */\n"
    "#if defined(__ACPP__) || defined(__ADAPTIVECPP__) || defined(__OPENSYCL__) || \\\n"
    "    defined(__HIPSYCL__)\n"
    "#define $P_SYCL_IS_ACPP 1\n"
    "#else\n"
    "#define $P_SYCL_IS_ACPP 0\n"
    "#endif\n"
    "#if defined(SYCL_LANGUAGE_VERSION) && !$P_SYCL_IS_ACPP && defined(__has_cpp_attribute)\n"
    "#if __has_cpp_attribute(sycl::reqd_sub_group_size)\n"
    "#define $P_SYCL_HAS_ATTRIBUTE 1\n"
    "#endif\n"
    "#endif\n"
    "#ifndef $P_SYCL_HAS_ATTRIBUTE\n"
    "#define $P_SYCL_HAS_ATTRIBUTE 0\n"
    "#endif\n"
    "#if $P_SYCL_HAS_ATTRIBUTE\n"
    "#if __has_include(<sycl/ext/intel/experimental/grf_size_properties.hpp>)\n"
    "#include <sycl/ext/intel/experimental/grf_size_properties.hpp>\n"
    "#define $P_SYCL_HAS_GRF_SIZE 1\n"
    "#endif\n"
    "#endif\n"
    "#ifndef $P_SYCL_HAS_GRF_SIZE\n"
    "#define $P_SYCL_HAS_GRF_SIZE 0\n"
    "#endif\n"
    "\n"
    "#include <utility>\n"
    "\n"
    "namespace $N {\n"
    "\n"
    "constexpr bool sub_group_size_allowed(unsigned long long size) noexcept\n"
    "{\n"
    "    return $C;\n"
    "}\n"
    "\n"
    "/** Compiles only for a size that every target accepts. */\n"
    "template <unsigned long long Size> struct checked_sub_group_size {\n"
    "$R"
    "    static_assert($D,\n" /* with numbers: `devimg sycl lint` reads it too */
    "                  \"sub-group size: $S only\");\n"
    "    static constexpr unsigned value = static_cast<unsigned>(Size);\n"
    "    static constexpr unsigned alignment = 1; /* none: see $P_SUB_GROUP_SIZE */\n"
    "};\n"
    "\n"
    "namespace kernel_shape_detail {\n"
    "\n"
    "template <class Kernel, unsigned long long Size> struct sized {\n"
    "    Kernel kernel;\n"
    "    template <class... Arguments>\n"
    "#if $P_SYCL_HAS_ATTRIBUTE\n"
    "    [[sycl::reqd_sub_group_size(checked_sub_group_size<Size>::value)]]\n"
    "#endif\n"
    "    auto operator()(Arguments... arguments) const\n"
    "        -> decltype(std::declval<const Kernel &>()(arguments...))\n"
    "    {\n"
    "        return kernel(arguments...);\n"
    "    }\n"
    "};\n"
    "\n"
    "template <class Kernel> struct sized<Kernel, 0> { /* the compiler chooses */\n"
    "    Kernel kernel;\n"
    "    template <class... Arguments>\n"
    "    auto operator()(Arguments... arguments) const\n"
    "        -> decltype(std::declval<const Kernel &>()(arguments...))\n"
    "    {\n"
    "        return kernel(arguments...);\n"
    "    }\n"
    "};\n"
    "\n"
    "template <class Kernel, unsigned long long Size, unsigned Registers>\n"
    "struct shaped : sized<Kernel, Size> {\n"
    "#if $P_SYCL_HAS_GRF_SIZE\n"
    "    template <class Tag> auto get(Tag) const /* of properties_tag, whose header moves */\n"
    "    {\n"
    "        return sycl::ext::oneapi::experimental::properties{\n"
    "            sycl::ext::intel::experimental::grf_size<Registers>};\n"
    "    }\n"
    "#elif $P_SYCL_HAS_ATTRIBUTE\n"
    "    static_assert(Registers == 0, \"this compiler cannot be asked for a register file\");\n"
    "#endif\n"
    "};\n"
    "\n"
    "template <class Kernel, unsigned long long Size>\n"
    "struct shaped<Kernel, Size, 0> : sized<Kernel, Size> {};\n"
    "\n"
    "} /* namespace kernel_shape_detail */\n"
    "\n"
    "/**\n"
    " * How a kernel is compiled: its sub-group size, and registers a thread (0: the compiler chooses).\n"
    " * Size 0 leaves the size to the compiler, which only the large register file (256) allows: with\n"
    " * fewer registers a large size spills.\n"
    " *     queue.parallel_for(range, kernel_shape<$F>::kernel([=](sycl::nd_item<1> item) { ... }));\n"
    " */\n"
    "template <unsigned long long Size, unsigned Registers = 0> struct kernel_shape {\n"
    "    static_assert(Registers == 0 || Registers == 256, \"registers: 0 or 256\");\n"
    "    static_assert(Size != 0 || Registers == 256,\n"
    "                  \"sub-group size 0 (the compiler chooses) goes with 256 registers only\");\n"
    "    static_assert(checked_sub_group_size<Size == 0 ? $F : Size>::value != 0, \"\");\n"
    "    static constexpr unsigned size = static_cast<unsigned>(Size);\n"
    "    static constexpr unsigned registers = Registers;\n"
    "    template <class Kernel>\n"
    "    static constexpr kernel_shape_detail::shaped<Kernel, Size, Registers> kernel(Kernel function)\n"
    "    {\n"
    "        return { { std::move(function) } };\n"
    "    }\n"
    "};\n"
    "\n"
    "} /* namespace $N */\n"
    "\n"
    "/* The check alone, as a declaration: in a function, a class or a namespace. */\n"
    "#define $P_CHECK_SUB_GROUP_SIZE(N) \\\n"
    "    static_assert(::$N::checked_sub_group_size<(N)>::value != 0, \"\")\n"
    "\n"
    "/* The attribute of a kernel, checked: behind the parameters of a lambda, or before a function. */\n"
    "#if $P_SYCL_IS_ACPP\n"
    "#define $P_SUB_GROUP_SIZE(N)\n"
    "#elif $P_SYCL_HAS_ATTRIBUTE\n"
    "#define $P_SUB_GROUP_SIZE(N) \\\n"
    "    [[sycl::reqd_sub_group_size(::$N::checked_sub_group_size<(N)>::value)]]\n"
    "#elif defined(__GNUC__) /* no SYCL: it asks for nothing, and is checked all the same */\n"
    "#define $P_SUB_GROUP_SIZE(N) \\\n"
    "    __attribute__((aligned(::$N::checked_sub_group_size<(N)>::alignment)))\n"
    "#else\n"
    "#define $P_SUB_GROUP_SIZE(N)\n"
    "#endif\n"
    "\n"
    "#else /* C, OpenCL C */\n"
    "\n"
    "#define $P_CHECK_SUB_GROUP_SIZE(N)                \\\n"
    "    _Static_assert($P_SUB_GROUP_SIZE_ALLOWED(N), \\\n"
    "                   \"sub-group size: $S only (the targets of this build accept no other)\")\n"
    "#ifdef __OPENCL_C_VERSION__\n"
    "#define $P_SUB_GROUP_SIZE(N)        \\\n"
    "    $P_CHECK_SUB_GROUP_SIZE(N);     \\\n"
    "    __attribute__((intel_reqd_sub_group_size(N)))\n"
    "#endif\n"
    "\n"
    "#endif\n"
    "#endif\n";

/* "size == 16 || size == 32" */
static void condition(FILE *file, uint32_t sizes, const char *name)
{
    const char *between = "";
    for (unsigned bit = 0; bit < 32; bit++) {
        if ((sizes >> bit & 1) == 0)
            continue;
        fprintf(file, "%s%s == %" PRIu32, between, name, UINT32_C(1) << bit);
        between = " || ";
    }
}

static void refusals(FILE *file, const struct dvi_sycl_header *h)
{
    char sizes[DVI_SIZES_ROOM];
    for (size_t i = 0; i < h->refused_sizes.count; i++)
        fprintf(file,
                "    static_assert(Size != %" PRIu32 ",\n"
                "                  \"sub-group size %" PRIu32 ": refused by %s; %s only\");\n",
                h->refused_sizes.items[i].size, h->refused_sizes.items[i].size,
                h->refused_sizes.items[i].targets, dvi_sizes_text(h->sizes.allowed, ", ", sizes));
}

/* The names, in lines of a comment. */
static void names_in_lines(FILE *file, const struct dvi_sycl_header *h)
{
    enum { MOST = 90 };
    size_t used = 0;
    for (size_t i = 0; i < h->sizes.targets.count; i++) {
        const char *name = h->sizes.targets.items[i]->name;
        if (used == 0 || used + strlen(name) > MOST) {
            fputs(used > 0 ? "\n *    " : " *    ", file);
            used = 6;
        }
        fprintf(file, " %s", name);
        used += strlen(name) + 1;
    }
    putc('\n', file);
}

static void expand(FILE *file, const struct dvi_sycl_header *h, char what)
{
    char sizes[DVI_SIZES_ROOM];
    switch (what) {
    case 'P': fputs(h->prefix, file); break;
    case 'N': fputs(h->space, file); break;
    case 'T': names_in_lines(file, h); break;
    case 't': fputs(h->names, file); break;
    case 'S': fputs(dvi_sizes_text(h->sizes.allowed, ", ", sizes), file); break;
    case 'L': fputs(dvi_sizes_text(h->sizes.allowed, ",", sizes), file); break;
    case 'F': /* the least of them */
        fprintf(file, "%" PRIu32, h->sizes.allowed & (~h->sizes.allowed + 1));
        break;
    case 'C': condition(file, h->sizes.allowed, "size"); break;
    case 'D': condition(file, h->sizes.allowed, "Size"); break;
    case 'M': condition(file, h->sizes.allowed, "(N)"); break;
    case 'R': refusals(file, h); break;
    case 'A': fputs(h->anchor, file); break;
    default: break;
    }
}

static void print_expanded(FILE *file, const struct dvi_sycl_header *h, const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if (*at == '$')
            expand(file, h, *++at);
        else
            putc(*at, file);
}

static enum devimg_status fill(FILE *file, const void *context, struct devimg_error *err)
{
    const struct dvi_sycl_header *h = context;
    (void)err;
    fputs(mark, file);
    print_expanded(file, h, top);
    if (h->anchor != NULL)
        print_expanded(file, h, ask);
    print_expanded(file, h, rest);
    return DEVIMG_OK;
}

/* --- the answer --- */

static void json(struct dvi_output *out, const struct dvi_sycl_header *h, const char *path,
                 enum devimg_answer same)
{
    struct dvi_json *j = &out->j;
    *j = dvi_json_to(out->file);
    dvi_json_object(j, NULL, DVI_JSON_LINES);
    dvi_json_text(j, "schema", "devimg/1");
    dvi_json_text(j, "file", path);
    dvi_json_answer(j, "up_to_date", same);
    dvi_json_text(j, "anchor", h->anchor);
    dvi_json_sizes(j, "sub_group_sizes", h->sizes.allowed);
    dvi_json_bool(j, "with_default", h->sizes.with_default);
    dvi_json_array(j, "targets", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < h->sizes.targets.count; i++)
        dvi_json_text(j, NULL, h->sizes.targets.items[i]->name);
    dvi_json_end(j);
    dvi_json_array(j, "unmeasured", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < h->targets.unmeasured.count; i++)
        dvi_json_text(j, NULL, h->targets.unmeasured.items[i]);
    for (size_t i = 0; i < h->sizes.unmeasured.count; i++)
        dvi_json_text(j, NULL, h->sizes.unmeasured.items[i]->name);
    dvi_json_end(j);
    dvi_json_array(j, "unknown", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < h->targets.unknown.count; i++)
        dvi_json_text(j, NULL, h->targets.unknown.items[i].name);
    dvi_json_end(j);
    dvi_json_end(j);
}

static void complain(const struct dvi_sycl_header *h)
{
    for (size_t i = 0; i < h->targets.warnings.count; i++) {
        fputs("devimg sycl header: warning: ", stderr);
        dvi_escape(stderr, h->targets.warnings.items[i]);
        putc('\n', stderr);
    }
    dvi_complain_targets("sycl header", &h->targets);
    for (size_t i = 0; i < h->sizes.unmeasured.count; i++)
        fprintf(stderr, "devimg sycl header: no table has the sub-group sizes of %s\n",
                h->sizes.unmeasured.items[i]->name);
    if (h->refused && !h->targets.refused && h->sizes.unmeasured.count == 0)
        fputs("devimg sycl header: no sub-group size is accepted by every target\n", stderr);
    if (h->refused)
        fputs(
            "devimg sycl header: no header is written: mend the list; `devimg sycl probe` measures "
            "a target that no table has\n",
            stderr);
}

static void text(const struct dvi_output *out, const struct dvi_sycl_header *h, const char *path,
                 const char *end)
{
    char sizes[DVI_SIZES_ROOM];
    dvi_escape(out->file, path);
    fprintf(out->file, ": sub-group sizes %s, which ",
            dvi_sizes_text(h->sizes.allowed, ", ", sizes));
    dvi_print_count(out->file, h->sizes.targets.count, "target");
    fprintf(out->file, " accept%s",
            h->sizes.with_default ? " (for one device or none, the default list counts too)" : "");
    if (h->anchor != NULL)
        fprintf(out->file, "; link.exe is told to include %s", h->anchor);
    fprintf(out->file, "%s\n", end);
}

/* Write it to `path`, or compare it with what is there. */
static enum devimg_status put_file(const struct dvi_sycl_header *h, const char *path, bool check,
                                   bool *same, struct devimg_error *err)
{
    if (check)
        return dvi_file_holds(path, fill, h, same, err);
    return dvi_file_update(path, mark, fill, h, err);
}

enum dvi_exit dvi_output_sycl_header(struct dvi_output *out, const struct dvi_sycl_header *header,
                                     const char *path, bool check)
{
    struct devimg_error err = { 0 };
    bool same = true;
    complain(header);
    dvi_output_worst(out, header->refused ? DVI_EXIT_FINDINGS : DVI_EXIT_OK);
    if (!header->refused && path != NULL &&
        put_file(header, path, check, &same, &err) != DEVIMG_OK) {
        dvi_complain(&err);
        dvi_output_worst(out, DVI_EXIT_UNREADABLE);
    } else if (out->json) {
        json(out, header, path,
             header->refused || !check ? DEVIMG_MAYBE
             : same                    ? DEVIMG_YES
                                       : DEVIMG_NO);
    } else if (!header->refused && path == NULL) {
        (void)fill(out->file, header, &err);
    } else if (!header->refused && !out->quiet) {
        text(out, header, path, check && same ? ": up to date" : "");
    }
    if (!same) {
        dvi_escape(stderr, path);
        fputs(
            ": is not the header that these options give: write it anew (devimg sycl header -o)\n",
            stderr);
        dvi_output_worst(out, DVI_EXIT_FINDINGS);
    }
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
