/* SPDX-License-Identifier: Apache-2.0 */
/* The target tables: names, aliases, IP versions, what a target accepts. */
#ifndef DVI_TARGET_TARGET_H
#define DVI_TARGET_TARGET_H

#include "base/arena.h"

/** The row for an IP version that is no alias, stepping or generic where there is one; NULL: none.
 */
const struct devimg_target *dvi_target_of_ip(uint64_t ip_version);
/**
 * What an Intel IP version is called: the canonical name, also through former IP versions
 * (bmg-g21 was 20.1.4). NULL: not in the tables.
 */
const struct devimg_target *dvi_target_of_ip_or_former(uint64_t ip_version);
/** True when `ip_version` is one that `target` has or once had. */
bool dvi_target_has_ip(const struct devimg_target *target, uint64_t ip_version);
/** The IP versions that `target` once had, in ascending order; DEVIMG_UNKNOWN: no more than `i`. */
uint64_t dvi_target_former_ip(const struct devimg_target *target, size_t i);
/** A row of the release whose zebin note 1 is `product_family`, or NULL. */
const struct devimg_target *dvi_target_of_product_family(uint64_t product_family);
/** The `i`th of such rows, one a product family, whose core family this is; NULL: no more. */
const struct devimg_target *dvi_target_of_core_family(uint64_t core_family, size_t i);

/** The row of an AMD processor number of e_flags, or NULL. */
const struct devimg_target *dvi_target_of_machine(uint64_t machine);
/** True for AMD targets with code of their own: processors, generic ones, and target ids of both. */
bool dvi_target_is_amd(const struct devimg_target *target);
/**
 * The row of an AMD target id ("gfx90a:xnack-:sramecc+"), whatever the order of its features. NULL:
 * no such processor, or one that lacks the feature, or a feature twice.
 */
const struct devimg_target *dvi_target_of_id(const char *id);
/**
 * An AMD device runs with each feature of its processor on or off: four settings, a bit each (bit 0
 * of the bit's number: sramecc is on, bit 1: xnack is). Those that `target` stands for.
 */
uint32_t dvi_amd_settings(const struct devimg_target *target);
/** Those of them under which a device of `target` runs code for `image`; 0: it does not. */
uint32_t dvi_amd_served(const struct devimg_target *target, const struct devimg_target *image);
enum { DVI_AMD_SETTINGS = 4, DVI_AMD_SETTING_ROOM = 24 };
/** "sramecc-:xnack+" for a bit's number, of the features that the target has. Returns `out`. */
const char *dvi_amd_setting_text(const struct devimg_target *target, unsigned setting,
                                 char out[DVI_AMD_SETTING_ROOM]);

/** True for targets of NVIDIA's machine code: "sm_90a". */
bool dvi_target_is_nvidia(const struct devimg_target *target);
/** Is code for `image` ("sm_100f") meant for devices of `target` ("sm_103")? Its own number, or a
 *  later one of its family; a target of a suffix is served by its own code alone. */
bool dvi_nvidia_serves(const struct devimg_target *target, const struct devimg_target *image);
/** Is PTX for `image` a fallback wherever PTX for `kind` would be one? That of an earlier number is. */
bool dvi_nvidia_stands_for(const struct devimg_target *kind, const struct devimg_target *image);
/** Do they run it, as it is or (PTX) compiled at first use? So they may run code of other targets. */
bool dvi_nvidia_runs(const struct devimg_target *target, const struct devimg_target *image);

/** Code for the host's CPU: "spir64_x86_64", "native_cpu", or the triple of a CPU, as OpenMP has them
 *  ("aarch64-linux-gnu"). */
bool dvi_target_is_host(const char *name);

/** The primary row of the Intel GPU with that PCI device id, or NULL. */
const struct devimg_target *dvi_target_of_pci_id(uint64_t pci_id);

/** What an image is called: one name a device IP version; NULL: not stated, or in no table. */
const struct devimg_target *dvi_target_of_image(const struct devimg_image *image);
/** True when the image is for `target`, as far as it states one. One that states only its product
 *  family is for every target of that family. */
bool dvi_target_is_of_image(const struct devimg_target *target, const struct devimg_image *image);

/** A GPU, or a processor of one; else a portable target, a CPU, or a name for a list of GPUs. */
bool dvi_target_is_gpu(const struct devimg_target *target);
/** Code that a driver compiles: SPIR-V ("spir64", "amdgcnspirv"), PTX ("compute_90"). */
bool dvi_target_is_portable(const struct devimg_target *target);
/** Do drivers of the vendor of `target`, a GPU, compile code of the portable target's kind? */
bool dvi_target_compiles(const struct devimg_target *target, const struct devimg_target *portable);
/** The settings of a GPU: dvi_amd_settings(); 1 where it has none. */
uint32_t dvi_target_settings(const struct devimg_target *target);
/** Those that the native image is meant for; 0: it is for another GPU. */
uint32_t dvi_target_served(const struct devimg_target *target, const struct devimg_image *image);
/** Those under which it runs the native image as it is: NVIDIA's GPUs run code of earlier ones, too. */
uint32_t dvi_target_run(const struct devimg_target *target, const struct devimg_image *image);

/** A parsed list of targets, as a user wrote it. */
struct dvi_target_set {
    DVI_LIST(const struct devimg_target *) known; /* in the order written; no row twice */
    DVI_LIST(const char *) unknown;               /* names no table has, in the arena */
    DVI_LIST(const char *) repeated;              /* names written twice */
};

/**
 * Add a comma-separated list (requirement D8): names are trimmed, empties dropped, case folded;
 * a set ("default-intel", "default") or family ("xe-hpg") stands for all its targets.
 * @return DEVIMG_OK (also with unknown names: they are in `unknown`), NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_target_set_add(struct dvi_target_set *set, const char *list,
                                                     struct dvi_arena *arena,
                                                     struct devimg_error *err);
/** True when the image is for a target of the set, by its IP version or by its name. */
bool dvi_target_set_has(const struct dvi_target_set *set, const struct devimg_image *image);
void dvi_target_set_free(struct dvi_target_set *set);
/** Known names that lie near an unknown one, for "did you mean"; NULL: none is near. */
const char *dvi_target_nearest(const char *name);

#endif
