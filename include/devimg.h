/* SPDX-License-Identifier: Apache-2.0 */
/**
 * devimg: what GPU code a file carries.
 *
 * Open a file, read its records. Every record is plain, read-only data that belongs to the
 * devimg_file (or devimg_report) it came from and dies with it. Arrays are in file order.
 *
 * Sizes and offsets are bytes. A value that the file does not state is *unknown*: DEVIMG_UNKNOWN
 * for numbers, NULL for text, DEVIMG_MAYBE for yes/no. It is never 0.
 * Text is UTF-8 only where the file wrote UTF-8: names are the bytes of the file, up to a NUL.
 *
 * Threads: an open devimg_file may be read from many threads; opening, devimg_read_kernels() and
 * closing are for one. The library never prints or exits, handles no signal, and keeps no state but
 * in the handles that it gives out. (The program devimg guards its mapped files by a SIGBUS
 * handler; the table for that stays empty in every other program.)
 */
#ifndef DEVIMG_H
#define DEVIMG_H

#include <stddef.h>
#include <stdint.h>

#define DEVIMG_VERSION "0.1.0"

#if defined(_WIN32)
#define DEVIMG_API
#elif defined(__GNUC__)
#define DEVIMG_API __attribute__((visibility("default")))
#else
#define DEVIMG_API
#endif
#if defined(__GNUC__)
#define DEVIMG_CHECKED __attribute__((warn_unused_result))
#else
#define DEVIMG_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A number that the file does not state. */
#define DEVIMG_UNKNOWN UINT64_MAX
/** An index that points nowhere: no parent, no module. */
#define DEVIMG_NONE UINT32_MAX

/** What a call came to; each one means an action. */
enum devimg_status {
    DEVIMG_OK = 0,
    DEVIMG_END,         /**< nothing more to read: stop */
    DEVIMG_TRUNCATED,   /**< the file is bad: something does not fit in it */
    DEVIMG_MALFORMED,   /**< the file is bad: a value that cannot be */
    DEVIMG_UNSUPPORTED, /**< devimg does not read this */
    DEVIMG_LIMIT,       /**< a budget of devimg_opts is used up; the error names it */
    DEVIMG_NOMEM,       /**< out of memory */
    DEVIMG_IO           /**< the system could not open or read it */
};

/** "ok", "truncated", ...; never NULL. */
DEVIMG_API const char *devimg_status_name(enum devimg_status status);

/** Where reading failed, and why. Owned by the caller; needs no free. */
struct devimg_error {
    enum devimg_status status;
    uint64_t offset;  /**< from the start of `source`; DEVIMG_UNKNOWN where there is none */
    char source[128]; /**< "libfoo.so", "libfoo.a!bar.o", "image 3 (zstd)" */
    char text[192];   /**< "bundle entry count 900: at most 3 fit in 80 bytes" */
};

/** yes, no, or nothing in the file that tells. */
enum devimg_answer { DEVIMG_NO = 0, DEVIMG_YES = 1, DEVIMG_MAYBE = 2 };

enum devimg_file_kind {
    DEVIMG_KIND_ELF,
    DEVIMG_KIND_PE,
    DEVIMG_KIND_COFF,
    DEVIMG_KIND_AR,
    DEVIMG_KIND_PACKAGE,
    DEVIMG_KIND_RAW /**< loose device code: a zebin, SPIR-V, a bundle */
};

enum devimg_record_status {
    DEVIMG_RECORD_OK,
    DEVIMG_RECORD_NO_DEVICE_CODE,
    DEVIMG_RECORD_DAMAGED,   /**< part of it could not be read; findings say which */
    DEVIMG_RECORD_UNREADABLE /**< nothing of it could be read */
};

enum devimg_offload {
    DEVIMG_OFFLOAD_UNKNOWN,
    DEVIMG_OFFLOAD_SYCL,
    DEVIMG_OFFLOAD_CUDA,
    DEVIMG_OFFLOAD_HIP,
    DEVIMG_OFFLOAD_OPENMP,
    DEVIMG_OFFLOAD_OPENCL,
    DEVIMG_OFFLOAD_ACPP
};

enum devimg_format {
    DEVIMG_FORMAT_UNKNOWN,
    DEVIMG_FORMAT_ZEBIN,
    DEVIMG_FORMAT_PATCHTOKEN,
    DEVIMG_FORMAT_SPIRV,
    DEVIMG_FORMAT_CUBIN,
    DEVIMG_FORMAT_PTX,
    DEVIMG_FORMAT_LTO_IR,
    DEVIMG_FORMAT_AMDGPU,
    DEVIMG_FORMAT_BITCODE,
    DEVIMG_FORMAT_ARCHIVE /**< an ocloc archive: its members are images with this one as parent */
};

enum devimg_compression {
    DEVIMG_COMPRESSION_NONE,
    DEVIMG_COMPRESSION_ZSTD,
    DEVIMG_COMPRESSION_ZLIB,
    DEVIMG_COMPRESSION_LZ4
};

/** CUDA: what a device link has to do with an image. */
enum devimg_device_link {
    DEVIMG_LINK_NONE,
    DEVIMG_LINK_INPUT, /**< relocatable code (-rdc=true), for a link that comes */
    DEVIMG_LINK_LINKED, /**< the same, and what a link made of it is in the file: the runtime links it
                             again where that has nothing for a GPU */
    DEVIMG_LINK_RESULT /**< what a link made */
};

/** The names of json.md: "elf", "no-device-code", "sycl", "zebin", "zstd"; never NULL. */
DEVIMG_API const char *devimg_file_kind_name(enum devimg_file_kind kind);
DEVIMG_API const char *devimg_record_status_name(enum devimg_record_status status);
DEVIMG_API const char *devimg_offload_name(enum devimg_offload offload);
DEVIMG_API const char *devimg_format_name(enum devimg_format format);
DEVIMG_API const char *devimg_compression_name(enum devimg_compression compression);
/** "input", "linked", "result"; NULL: none. */
DEVIMG_API const char *devimg_device_link_name(enum devimg_device_link link);

/** Limits and filters. Set struct_size = sizeof(struct devimg_opts); a 0 means the default. */
struct devimg_opts {
    size_t struct_size;
    uint64_t max_inflated_size;       /**< bytes of one inflated image; default 256 MiB */
    uint64_t max_total_inflated_size; /**< bytes inflated from one file; default 16 GiB */
    uint32_t max_depth;               /**< containers inside containers; default 8 */
    uint32_t max_members;             /**< members of archives, all together; default 1,000,000 */
    uint32_t max_images;              /**< images of one file; default 200,000 */
    uint32_t max_kernels;             /**< kernels of one file; default 4,000,000 */
    uint32_t threads;                 /**< workers that inflate and decode; default: the cores */
    int read_whole; /**< 1: read the file into memory instead of mapping it, so that a file cut
                         while it is read cannot raise SIGBUS. Default 0 */
    int code_digests; /**< 1: devimg_read_kernels() takes the SHA-256 of the code of each kernel as well.
                           Default 0 */
};

/** One file, or one member of an archive or package. */
struct devimg_record {
    const char *path;           /**< as it was opened */
    const char *const *members; /**< names of the archive members that lead here, outermost first */
    uint32_t member_count;      /**< 0 for the file itself */
    enum devimg_file_kind kind;
    enum devimg_record_status status;
    const char *machine;   /**< host machine: "x86_64", "aarch64"; NULL for raw device code */
    uint64_t pointer_size; /**< bytes of a pointer there, 4 or 8; DEVIMG_UNKNOWN: raw device code */
    enum devimg_answer linked; /**< yes: an executable or shared library; no: an object before the
                                    link; maybe: neither, such as loose device code */
    uint64_t size;
    uint32_t first_image, image_count;     /**< a range of devimg_image_at() */
    uint32_t first_module, module_count;   /**< a range of devimg_module_at() */
    uint32_t first_kernel, kernel_count;   /**< a range of devimg_kernel_at(); see read_kernels */
    uint32_t first_finding, finding_count; /**< a range of devimg_finding_at(): what was damaged */
    uint32_t descriptor_count;             /**< DPC++ library descriptors; DEVIMG_NONE: unknown,
                                                some could not be looked for */
    uint32_t registered_count;    /**< descriptors met that start-up hands to __sycl_register_lib */
    uint32_t unsure_count;        /**< descriptors met of which that cannot be told */
    uint64_t registered_images;   /**< images that the registered ones state, read or not */
    const char *const *elsewhere; /**< files that hold device code of this one and were not found
                                       beside it (ROCm kpack), as it names them */
    uint32_t elsewhere_count;     /**< a record with some never has no device code */
};

/** Device code for one target. */
struct devimg_image {
    uint32_t record;  /**< index of its devimg_record */
    uint32_t parent;  /**< index of the archive image it is a member of, or DEVIMG_NONE */
    uint32_t module;  /**< index of its devimg_module, or DEVIMG_NONE: a support image */
    const char *unit; /**< source file, where symbols tell it; NULL */
    int support;      /**< 1: a device library or empty image; never needs coverage */
    enum devimg_offload offload;
    const char *bundle;   /**< "dpcpp", "clang-bundle", "ocloc", "none", ... */
    const char *section;  /**< of the object; NULL outside one */
    const char *entry_id; /**< the label as it stands in the file; NULL where it has none */
    const char *target;   /**< canonical: "dg2-g10", "spir64"; NULL: not stated */
    uint64_t ip_version;  /**< Intel: arch << 22 | release << 14 | revision; DEVIMG_UNKNOWN */
    int family_only; /**< 1: the image states only its product family; target is the family's */
    uint64_t pointer_size; /**< GPU code: bytes of a pointer of the host program, 4 or 8;
                                DEVIMG_UNKNOWN */
    enum devimg_format format;
    uint64_t offset;           /**< in the record's file; DEVIMG_UNKNOWN inside inflated data */
    uint64_t offset_in_parent; /**< in the inflated bytes of the parent, or of the compressed bundle
                                    (bundle_offset); DEVIMG_UNKNOWN without either */
    uint64_t stored_size;      /**< in the file; DEVIMG_UNKNOWN: compressed together with others */
    uint64_t size;             /**< inflated; DEVIMG_UNKNOWN: not stated */
    enum devimg_compression compression;
    enum devimg_answer registered; /**< reached by a descriptor that the program registers */
    uint64_t kernel_count;         /**< DEVIMG_UNKNOWN until devimg_read_kernels() for some */
    const char *const *entries;    /**< names the host may ask for: kernels, then functions; NULL:
                                        not stated */
    uint32_t entry_count;
    const uint32_t *aspects; /**< numbers of sycl::aspect that it requires; NULL: not stated */
    uint32_t aspect_count;
    uint64_t required_sub_group_size; /**< of the whole image, as its properties state it */
    const char *compile_options;      /**< of the descriptor; NULL: none */
    const char *version;  /**< of the format: SPIR-V "1.4", zebin "1.53"; NULL: not looked at yet */
    const char *producer; /**< the tool that wrote it, as the image numbers it, or NULL */
    const uint32_t *capabilities; /**< SPIR-V: numbers of OpCapability; NULL: not SPIR-V, or not
                                       looked at before devimg_read_kernels() */
    uint32_t capability_count;
    const char *const *extensions; /**< SPIR-V: texts of OpExtension */
    uint32_t extension_count;
    const char *note; /**< one line a reader should know, or NULL */
    enum devimg_device_link device_link;
    uint64_t bundle_offset; /**< in the record's file: of the compressed bundle that it lies in,
                                  together with others; DEVIMG_UNKNOWN: in none */
    uint64_t bundle_size;   /**< stored bytes of that bundle; DEVIMG_UNKNOWN */
};

/** The images that stand for the same kernels: the runtime picks one of them for a device. */
struct devimg_module {
    uint32_t record;
    const char *unit;       /**< source file, where symbols tell it; NULL */
    const uint32_t *images; /**< indices of devimg_image_at(), archive members included */
    uint32_t image_count;
    const char *const *names; /**< of kernels, sorted by byte; none where they are not known */
    uint32_t name_count;
};

enum devimg_feature { /* bits of devimg_kernel.features */
                      DEVIMG_FEATURE_FP64 = 1,
                      DEVIMG_FEATURE_FP16 = 2,
                      DEVIMG_FEATURE_ATOMIC64 = 4,
                      DEVIMG_FEATURE_MATRIX = 8,
                      DEVIMG_FEATURE_ESIMD = 16
};

/** "fp64", ... for one bit; NULL for none. */
DEVIMG_API const char *devimg_feature_name(uint32_t bit);

/** An entry point that the host can launch, as one image has it. */
struct devimg_kernel {
    const char *name; /**< mangled, as it stands in the image */
    uint32_t record, image, module;
    uint64_t sub_group_size;          /**< compiled for; AMD: wavefront size; DEVIMG_UNKNOWN: the
                                           driver chooses */
    uint64_t required_sub_group_size; /**< DEVIMG_UNKNOWN: none required */
    uint64_t code_size;               /**< bytes of its machine code */
    const uint8_t *code_digest;       /**< SHA-256 of that code, 32 bytes; NULL: not asked for (see
                                     devimg_opts), or the image does not tell where it is */
    uint64_t registers;    /**< of a thread; Intel: GRF count; AMD: VGPR count of a lane */
    uint64_t private_size; /**< private memory, bytes as the image states them; AMD and
                                           CUDA: of a thread, with what is spilled */
    uint64_t spill_size;   /**< registers saved to scratch, bytes; AMD: four for each
                                           vector register of vgpr_spill_count */
    uint64_t slm_size;     /**< bytes a work-group shares */
    uint64_t scratch_size; /**< largest buffer of a hardware thread, bytes; 0: none */
    uint64_t barrier_count;
    uint64_t constant_size; /**< CUDA: bytes of its constant bank 0, which holds its parameters */
    uint32_t features;      /**< bits of devimg_feature that the image states */
    int features_known;     /**< 0: the image's format does not say */
    uint64_t sgpr_count, agpr_count;             /**< AMD: scalar and accumulation registers */
    uint64_t vgpr_spill_count, sgpr_spill_count; /**< AMD: registers spilled, as the image counts */
    uint64_t kernarg_size; /**< AMD: bytes of the arguments, hidden ones included */
};

enum devimg_severity { DEVIMG_NOTE, DEVIMG_WARNING, DEVIMG_ERROR };

/** "note", "warning", "error". */
DEVIMG_API const char *devimg_severity_name(enum devimg_severity severity);

/** One thing to say. Damage met while reading carries the rule "damaged". */
struct devimg_finding {
    const char *rule; /**< "targets", "damaged", ... */
    const char *code; /**< "missing-ip": stable, for scripts */
    enum devimg_severity severity;
    uint32_t record, module, image;     /**< DEVIMG_NONE where it does not apply */
    const char *unit, *kernel, *target; /**< what it is about; NULL where it does not apply */
    uint64_t offset;                    /**< in the record's file, or DEVIMG_UNKNOWN */
    const char *message;
    const char *hint; /**< what to do, or NULL */
};

struct devimg_file;

/**
 * Open a file by path and find its device images.
 *
 * @param path  a regular file; anything else (FIFO, device, folder) is DEVIMG_IO.
 * @param opts  NULL for the defaults.
 * @param out   set on DEVIMG_OK only; release with devimg_close().
 * @param err   may be NULL.
 * @return DEVIMG_OK, also for a file without device code (0 images) and for one of which a part is
 *         damaged (findings say which); DEVIMG_UNSUPPORTED when nothing here reads such a file;
 *         DEVIMG_TRUNCATED or DEVIMG_MALFORMED when the outermost container is broken, so that
 *         nothing in it can be found; DEVIMG_LIMIT when a budget is used up;
 *         DEVIMG_NOMEM; DEVIMG_IO when the system cannot open or read it.
 *
 * Cost: headers, and the archives of native images; portable images are not inflated.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_open(const char *path,
                                                         const struct devimg_opts *opts,
                                                         struct devimg_file **out,
                                                         struct devimg_error *err);

/** The same for a descriptor; `name` is used in messages. The descriptor stays the caller's. */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_open_fd(int fd, const char *name,
                                                            const struct devimg_opts *opts,
                                                            struct devimg_file **out,
                                                            struct devimg_error *err);

/** The same for `size` bytes in memory. Borrowed: they must outlive `*out`. */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_open_bytes(const void *bytes, size_t size,
                                                               const char *name,
                                                               const struct devimg_opts *opts,
                                                               struct devimg_file **out,
                                                               struct devimg_error *err);

/** Release; NULL is fine. */
DEVIMG_API void devimg_close(struct devimg_file *file);

/**
 * Decode the kernels of every image, in parallel, into devimg_kernel_at().
 *
 * A second call does nothing. An image that cannot be decoded becomes a finding of its record.
 * Kernels are in the order of the images, then in the order of the image.
 * @return DEVIMG_OK, DEVIMG_LIMIT (max_kernels, max_total_inflated_size), DEVIMG_NOMEM, DEVIMG_IO
 *         when the file changed while it was read. After a failure there are no kernels and no
 *         findings of decoding; facts of some images may be known already. Close the file.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_read_kernels(struct devimg_file *file,
                                                                 struct devimg_error *err);

DEVIMG_API uint32_t devimg_record_count(const struct devimg_file *file);
DEVIMG_API uint32_t devimg_image_count(const struct devimg_file *file);
DEVIMG_API uint32_t devimg_module_count(const struct devimg_file *file);
DEVIMG_API uint32_t devimg_kernel_count(const struct devimg_file *file);
DEVIMG_API uint32_t devimg_finding_count(const struct devimg_file *file);

/** Borrowed; valid until the file is closed or, for records, images and findings, until
 *  devimg_read_kernels(). NULL past the end. */
DEVIMG_API const struct devimg_record *devimg_record_at(const struct devimg_file *file, uint32_t i);
DEVIMG_API const struct devimg_image *devimg_image_at(const struct devimg_file *file, uint32_t i);
DEVIMG_API const struct devimg_module *devimg_module_at(const struct devimg_file *file, uint32_t i);
DEVIMG_API const struct devimg_kernel *devimg_kernel_at(const struct devimg_file *file, uint32_t i);
DEVIMG_API const struct devimg_finding *devimg_finding_at(const struct devimg_file *file,
                                                          uint32_t i);

/**
 * Hand the bytes of image `image` to `sink`: inflated, or as they stand in the file.
 *
 * @param as_stored  0: what the image is made of, inflated where it is compressed. Else: the
 *                   `stored_size` bytes at `offset`, compressed or not.
 * @param sink       called once, with all bytes, which are valid until it returns; not called when
 *                   they cannot be had.
 * @return what `sink` returns; DEVIMG_END: no such image; DEVIMG_UNSUPPORTED for as_stored where
 *         the image is a member of another (devimg_image.parent) or compressed together with
 *         others (stored_size is DEVIMG_UNKNOWN); DEVIMG_TRUNCATED or
 *         DEVIMG_MALFORMED when it does not inflate; DEVIMG_LIMIT past max_inflated_size, or past
 *         max_total_inflated_size with all that lies in the same stored image; DEVIMG_NOMEM;
 *         DEVIMG_IO when the file changed while it was read, also after `sink` was called.
 *
 * Cost: the whole stored image is inflated for each of its members.
 * Threads: may be called from many.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_image_bytes(
    struct devimg_file *file, uint32_t image, int as_stored,
    enum devimg_status (*sink)(void *context, const void *bytes, size_t size,
                               struct devimg_error *err),
    void *context, struct devimg_error *err);

/** What devimg_anchor() did, or why not. */
struct devimg_anchored {
    const char *code; /**< why the object was refused, for scripts: "no-descriptor",
                           "descriptor-undefined", "already-defined", "strtab-not-last",
                           "bad-anchor-name", "coff-too-short", "coff-too-large",
                           "no-symbol-table", "bad-name-offset", "bad-aux-count", "not-coff";
                           NULL: it was not */
    uint32_t section; /**< of the descriptor and the anchor, from 1; 0: none was found */
    uint32_t value;   /**< offset in that section */
};
/**
 * Copy a COFF object (plain or bigobj) with one more external symbol, which stands where its DPC++
 * descriptor stands (".sycl_offloading.descriptor"). A linker that is told to include that symbol
 * takes the object out of a static library, and with it the code that registers its images.
 *
 * @param in    the object that the device link left
 * @param name  of the symbol: 9 to 1024 characters of ASCII, no blank, no quote
 * @param out   written beside its place and renamed: on failure it is as it was. May be `in`. A
 *              file that is there already is replaced when it is a COFF object.
 * @param anchored  filled in every case
 * @param err   may be NULL
 * @return DEVIMG_OK; DEVIMG_MALFORMED, DEVIMG_TRUNCATED, DEVIMG_UNSUPPORTED or DEVIMG_LIMIT when
 *         the object is refused (`code` says why); DEVIMG_IO; DEVIMG_NOMEM.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_anchor(const char *in, const char *name,
                                                           const char *out,
                                                           struct devimg_anchored *anchored,
                                                           struct devimg_error *err);

/** How images are written. Set struct_size = sizeof(struct devimg_extract_opts). */
struct devimg_extract_opts {
    size_t struct_size;
    int as_stored; /**< 1: the bytes as they stand in the file, compressed or not; default 0 */
    int force;     /**< 1: replace regular files; default 0: nothing is replaced */
};

/** An image that was to be written. */
struct devimg_extracted {
    uint32_t image;            /**< index of devimg_image_at() of its file */
    const char *name;          /**< of the file in the folder: "libfoo.so.0003.dg2-g10.zebin" */
    enum devimg_format format; /**< of the bytes, whatever a label says of them */
    enum devimg_compression compression;  /**< of the bytes; NONE unless as_stored */
    uint64_t size;                        /**< bytes written; DEVIMG_UNKNOWN: it was not */
    enum devimg_status status;            /**< DEVIMG_OK: it was written */
    const struct devimg_finding *finding; /**< of rule "extract": why it was not; NULL: it was */
};

/** Images of files that are written into one folder. */
struct devimg_extraction;
/**
 * Open the folder that images are written into, or make it; one that it made and that is still
 * empty at devimg_extraction_free() is removed again.
 *
 * @param folder  its parent must be there. A link to a folder is refused.
 * @param opts    NULL for the defaults.
 * @return DEVIMG_OK; DEVIMG_IO when it is no folder and cannot become one; DEVIMG_NOMEM.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_extraction_new(
    const char *folder, const struct devimg_extract_opts *opts, struct devimg_extraction **out,
    struct devimg_error *err);
/**
 * Write images of one file, each as a file of its own.
 *
 * Nothing is written outside the folder and no link is followed, whatever the file's names are. A
 * file appears whole or not at all. Two images of one extraction never get one name.
 *
 * @param wanted  a byte for each image of the file, not 0: write it. NULL: all images but those
 *                that hold others. With as_stored, members of an image are never written, and
 *                NULL means all others.
 * @param first   `*first` and `*count` (NULL is fine) are the range of the images that were to be
 *                written, in file order.
 * @return DEVIMG_OK, also when some could not be written (their status tells); DEVIMG_LIMIT past
 *         2^32 images; DEVIMG_NOMEM. After a failure some may have been written.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_extraction_add(
    struct devimg_extraction *extraction, struct devimg_file *file, const uint8_t *wanted,
    uint32_t *first, uint32_t *count, struct devimg_error *err);
DEVIMG_API uint32_t devimg_extraction_count(const struct devimg_extraction *extraction);
/** Borrowed; valid until the next devimg_extraction_add(), its finding until its file is closed.
 *  NULL past the end. */
DEVIMG_API const struct devimg_extracted *devimg_extraction_at(
    const struct devimg_extraction *extraction, uint32_t i);
/** Release; NULL is fine. What was written stays. */
DEVIMG_API void devimg_extraction_free(struct devimg_extraction *extraction);

/** One row of the target tables. */
struct devimg_target {
    const char *name;         /**< canonical: "dg2-g10" */
    const char *kind;         /**< acronym, stepping, generic, deprecated, portable, cpu, ...; AMD:
                                   processor, generic, target-id, ... */
    const char *aliases;      /**< other names of the same IP version, comma-separated; "" */
    uint64_t ip_version;      /**< arch << 22 | release << 14 | revision; DEVIMG_UNKNOWN */
    const char *former_ips;   /**< "20.1.4@24.26.30049.6": version @ first release; "" */
    const char *family;       /**< "Xe2" */
    const char *codename;     /**< "Battlemage G21" */
    const char *products;     /**< marketing names, "; " between; "" */
    uint32_t sub_group_sizes; /**< bit n: 2^n is accepted (8 is bit 3); 0: unknown */
    enum devimg_answer fp64, fp16, dpas;
    int fp64_emulated;       /**< 1: only by emulation that is off by default */
    uint64_t product_family; /**< of zebin note 1; DEVIMG_UNKNOWN */
    const char *source;
    uint64_t machine;     /**< AMD: processor number of e_flags (EF_AMDGPU_MACH); DEVIMG_UNKNOWN */
    const char *features; /**< AMD: what a target id may set: "sramecc,xnack"; NVIDIA: "tegra" of a
                               system on a chip; "" */
    const char *members;  /**< AMD, generic targets: those whose devices run its code,
                               comma-separated; "" */
};

/** Rows in table order. An AMD target id that sets features ("gfx90a:xnack+") is found by its name
 *  only. NULL past the end. */
DEVIMG_API const struct devimg_target *devimg_target_at(uint32_t i);
/** By any accepted spelling (case, "_" for "-", alias, intel_gpu_*, "12.55.8", features of a target id
 *  in any order); NULL: unknown. */
DEVIMG_API const struct devimg_target *devimg_target_find(const char *name);

/**
 * What `devimg check` holds a file to. Start with devimg_policy_new(), add a policy file and
 * single keys; a later one overrides an earlier one. Keys are those of docs/policy.md:
 * "targets", "fallback", "compression", "extra-targets", "sub-group-sizes", "features", "scratch",
 * "scratch.ratchet", "gaps" ("PATTERN without A,B: REASON"), "rules", "baseline", ...
 */
struct devimg_policy;
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_policy_new(struct devimg_policy **out,
                                                               struct devimg_error *err);
/**
 * Take the keys of a policy file (YAML), which may name other files relative to its own folder.
 * @return DEVIMG_OK; DEVIMG_MALFORMED for what is no such YAML, an unknown key or a wrong value
 *         (line and column in the text); DEVIMG_IO when it or a file that it names cannot be read;
 *         DEVIMG_LIMIT when one of them is too large; DEVIMG_NOMEM. After a
 *         failure the keys before the wrong one are set: free the policy.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_policy_load(struct devimg_policy *policy,
                                                                const char *path,
                                                                struct devimg_error *err);
/**
 * One key, with the value as it would stand on the command line. "gaps", "rules", "no-rule" and the
 * lists of "lint.macros", ... add up, the others replace what was set.
 * @return DEVIMG_OK; DEVIMG_MALFORMED for an unknown key or a wrong value; DEVIMG_NOMEM; for
 *         keys that name a file (scratch.ratchet, baseline, promised) DEVIMG_IO and DEVIMG_LIMIT.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_policy_set(struct devimg_policy *policy,
                                                               const char *key, const char *value,
                                                               struct devimg_error *err);
DEVIMG_API void devimg_policy_free(struct devimg_policy *policy);

/** What checking found, file after file. The policy must outlive it. The findings of a file name
 *  its units and kernels: read them before the file is closed. */
struct devimg_report;
/**
 * An empty report. Where the policy has the key "ocloc", this STARTS that program once for
 * each listed target (`ocloc ids NAME`) and waits up to 60 seconds each time; nothing else here
 * starts one.
 * @return DEVIMG_OK, also when it knows no such name (finish() tells); or when it gives no
 *         answer (finish() tells); DEVIMG_IO when it cannot be started; DEVIMG_NOMEM.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_report_new(const struct devimg_policy *policy,
                                                               struct devimg_report **out,
                                                               struct devimg_error *err);
/**
 * Check one file. Reads its kernels when a rule needs them. `*first` and `*count` (NULL is fine)
 * are the range of its findings, those of reading (rule "damaged") included.
 * @return DEVIMG_OK, whatever was found; as devimg_read_kernels(); DEVIMG_LIMIT past 2^32 findings;
 *         DEVIMG_NOMEM. After a failure a part of the file's findings may be in the report, and
 *         nothing is proved of the file.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_report_add(struct devimg_report *report,
                                                               struct devimg_file *file,
                                                               uint32_t *first, uint32_t *count,
                                                               struct devimg_error *err);
/**
 * After the last file: what of the policy itself was not needed (gaps, ratchet, baseline), is
 * written twice, or differs from what its ocloc says. These findings carry record DEVIMG_NONE. A
 * second call does nothing.
 * @return DEVIMG_OK, whatever was found; DEVIMG_NOMEM.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_report_finish(struct devimg_report *report,
                                                                  struct devimg_error *err);
DEVIMG_API uint32_t devimg_report_count(const struct devimg_report *report);
/** Borrowed; valid until the next devimg_report_add() or _finish(). NULL past the end. */
DEVIMG_API const struct devimg_finding *devimg_report_at(const struct devimg_report *report,
                                                         uint32_t i);
/**
 * Write every error and warning of the report, those accepted by a baseline included, as a file
 * for the key "baseline". Written beside `path` and renamed: on failure `path` is as it was.
 * @return DEVIMG_OK, DEVIMG_IO, DEVIMG_NOMEM.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_report_write_baseline(
    const struct devimg_report *report, const char *path, struct devimg_error *err);
/**
 * Write what kernels use of scratch memory as a file for the key "scratch.ratchet": the largest of
 * each kernel and target; "-" for what no image states. Only where the policy says "scratch: none" or
 * has a ratchet. Written beside `path` and renamed: on failure `path` is as it was.
 * @param force  0: refuse when `path` is there
 * @return DEVIMG_OK; DEVIMG_IO; DEVIMG_UNSUPPORTED when scratch was not looked at, or the name of a
 *         kernel cannot stand in a line; DEVIMG_NOMEM.
 */
DEVIMG_API DEVIMG_CHECKED enum devimg_status devimg_report_write_ratchet(
    const struct devimg_report *report, const char *path, int force, struct devimg_error *err);
DEVIMG_API void devimg_report_free(struct devimg_report *report);

#ifdef __cplusplus
}
#endif
#endif
