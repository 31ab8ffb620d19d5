/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that tools/gen_targets.py writes from data/targets/. A row is an index of dvi_targets.
 */
#ifndef DVI_TARGET_TABLES_H
#define DVI_TARGET_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "devimg.h"

extern const struct devimg_target dvi_targets[]; /* in the order of the TSV files; then the rows of
                                                    dvi_target_ids, which `count` leaves out */
extern const uint32_t dvi_target_count;

/** A name or other spelling of a row. */
struct dvi_target_name {
    const char *key;  /* lower case, without "-" and "_" */
    const char *name; /* as it is spelled */
    uint32_t row;
};
extern const struct dvi_target_name dvi_target_names[]; /* sorted by key; no key twice */
extern const uint32_t dvi_target_name_count;

struct dvi_target_number {
    uint32_t number; /* an IP version, a product family, a core family or a PCI id */
    uint32_t row;
};
extern const struct dvi_target_number dvi_target_ips[]; /* sorted: what an IP version is called */
extern const uint32_t dvi_target_ip_count;
extern const struct dvi_target_number dvi_target_formers[]; /* sorted; primary names come first */
extern const uint32_t dvi_target_former_count;
extern const struct dvi_target_number dvi_target_sycl_ips[]; /* sorted: intel_gpu_A_B_C of DPC++ */
extern const uint32_t dvi_target_sycl_ip_count;
extern const struct dvi_target_number dvi_target_families[]; /* sorted: zebin product families */
extern const uint32_t dvi_target_family_count;
extern const struct dvi_target_number dvi_target_cores[]; /* sorted: a row each product family */
extern const uint32_t dvi_target_core_count;

/** Target ids of AMD that set features: "gfx90a:sramecc+:xnack-"; sorted, `key` as `name`. */
extern const struct dvi_target_name dvi_target_ids[];
extern const uint32_t dvi_target_id_count;
extern const struct dvi_target_number dvi_target_machines[]; /* sorted: EF_AMDGPU_MACH */
extern const uint32_t dvi_target_machine_count;

extern const struct dvi_target_number dvi_target_pcis[]; /* sorted: PCI device ids */
extern const uint32_t dvi_target_pci_count;

/** A name that stands for several targets. */
struct dvi_target_group {
    const char *name;
    const uint32_t *rows; /* in the order of the set; no row twice */
    uint32_t count;
};
extern const struct dvi_target_group dvi_target_groups[];
extern const uint32_t dvi_target_group_count;

/** Where `text` goes on after `name`, in any case and with each "-" or "_" of the name written as
 *  either or left out. NULL: it does not start with that name. */
const char *dvi_target_spelled(const char *text, const char *name);
/** `text` in lower case without "-" and "_". False: it does not fit in `room` with its NUL. */
bool dvi_target_fold(const char *text, char *out, size_t room);

#endif
