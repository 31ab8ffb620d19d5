/* SPDX-License-Identifier: Apache-2.0 */
#include "output/record.h"

#include <string.h>

#include "base/demangle.h"
#include "output/escape.h"
#include "output/summary.h"
#include "output/text.h"

uint32_t dvi_within(uint32_t index, uint32_t first, uint32_t count)
{
    return index != DEVIMG_NONE && index >= first && index - first < count ? index - first
                                                                           : DEVIMG_NONE;
}

bool dvi_has_members(const struct devimg_file *file)
{
    for (uint32_t r = 0; r < devimg_record_count(file); r++)
        if (devimg_record_at(file, r)->member_count > 0)
            return true;
    return false;
}

const char *dvi_member_of(const struct devimg_file *file, uint32_t record)
{
    const struct devimg_record *r = devimg_record_at(file, record);
    return r != NULL && r->member_count > 0 ? r->members[r->member_count - 1] : NULL;
}

uint32_t dvi_image_within(const struct devimg_file *file, uint32_t record, uint32_t image)
{
    const struct devimg_record *r = devimg_record_at(file, record);
    return dvi_within(image, r->first_image, r->image_count);
}

static void hex(FILE *file, const char *text)
{
    for (; *text != '\0'; text++)
        fprintf(file, "%02x", (unsigned)(unsigned char)*text);
}

/* The bytes of "a.a!b.o" where they are no UTF-8: JSON text cannot carry them. */
void dvi_json_path_hex(struct dvi_json *j, const char *path, const struct devimg_record *record)
{
    bool valid = dvi_utf8_valid(path);
    for (uint32_t i = 0; record != NULL && i < record->member_count; i++)
        valid = valid && dvi_utf8_valid(record->members[i]);
    if (valid) {
        dvi_json_null(j, "path_hex");
        return;
    }
    dvi_json_text_begin(j, "path_hex");
    hex(j->file, path);
    for (uint32_t i = 0; record != NULL && i < record->member_count; i++) {
        hex(j->file, "!");
        hex(j->file, record->members[i]);
    }
    dvi_json_text_end(j);
}

void dvi_json_record_head(struct dvi_json *j, const char *path, const struct devimg_record *record)
{
    dvi_json_text(j, "path", path);
    dvi_json_array(j, "member", DVI_JSON_ONE_LINE);
    for (uint32_t i = 0; record != NULL && i < record->member_count; i++)
        dvi_json_text(j, NULL, record->members[i]);
    dvi_json_end(j);
    dvi_json_path_hex(j, path, record);
    dvi_json_text(j, "kind", record != NULL ? devimg_file_kind_name(record->kind) : NULL);
    dvi_json_text(j, "machine", record != NULL ? record->machine : NULL);
    dvi_json_number(j, "size", record != NULL ? record->size : DEVIMG_UNKNOWN);
    dvi_json_text(
        j, "status",
        devimg_record_status_name(record != NULL ? record->status : DEVIMG_RECORD_UNREADABLE));
    if (record != NULL)
        dvi_json_index(j, "descriptors", record->descriptor_count);
    dvi_json_array(j, "elsewhere", DVI_JSON_ONE_LINE);
    for (uint32_t i = 0; record != NULL && i < record->elsewhere_count; i++)
        dvi_json_text(j, NULL, record->elsewhere[i]);
    dvi_json_end(j);
}

void dvi_json_sizes(struct dvi_json *j, const char *key, uint32_t sizes)
{
    if (sizes == 0) {
        dvi_json_null(j, key);
        return;
    }
    dvi_json_array(j, key, DVI_JSON_ONE_LINE);
    for (unsigned bit = 0; bit < 32; bit++)
        if ((sizes >> bit & 1) != 0)
            dvi_json_number(j, NULL, UINT64_C(1) << bit);
    dvi_json_end(j);
}

void dvi_json_answer(struct dvi_json *j, const char *key, enum devimg_answer answer)
{
    if (answer == DEVIMG_MAYBE)
        dvi_json_null(j, key);
    else
        dvi_json_bool(j, key, answer == DEVIMG_YES);
}

/* null where the file does not state them. */
static void numbers_json(struct dvi_json *j, const char *key, const uint32_t *numbers,
                         uint32_t count)
{
    if (numbers == NULL) {
        dvi_json_text(j, key, NULL);
        return;
    }
    dvi_json_array(j, key, DVI_JSON_ONE_LINE);
    for (uint32_t i = 0; i < count; i++)
        dvi_json_number(j, NULL, numbers[i]);
    dvi_json_end(j);
}

static void extensions_json(struct dvi_json *j, const struct devimg_image *image)
{
    if (image->capabilities == NULL) { /* no SPIR-V, or not looked at */
        dvi_json_text(j, "extensions", NULL);
        return;
    }
    dvi_json_array(j, "extensions", DVI_JSON_ONE_LINE);
    for (uint32_t i = 0; i < image->extension_count; i++)
        dvi_json_text(j, NULL, image->extensions[i]);
    dvi_json_end(j);
}

static void image_json(struct dvi_json *j, const struct devimg_record *record, uint32_t index,
                       const struct devimg_image *image)
{
    char ip[DVI_SIZE_ROOM];
    dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
    dvi_json_index(j, "index", index);
    dvi_json_index(j, "parent",
                   dvi_within(image->parent, record->first_image, record->image_count));
    dvi_json_index(j, "module",
                   dvi_within(image->module, record->first_module, record->module_count));
    dvi_json_text(j, "unit", image->unit);
    dvi_json_bool(j, "support", image->support != 0);
    dvi_json_text(j, "offload",
                  image->offload != DEVIMG_OFFLOAD_UNKNOWN ? devimg_offload_name(image->offload)
                                                           : NULL);
    dvi_json_text(j, "bundle", image->bundle);
    dvi_json_text(j, "section", image->section);
    dvi_json_text(j, "entry_id", image->entry_id);
    dvi_json_text(j, "target", image->target);
    dvi_json_text(j, "ip_version", dvi_ip_or_null(image->ip_version, ip));
    dvi_json_bool(j, "family_only", image->family_only != 0);
    dvi_json_text(j, "format", devimg_format_name(image->format));
    dvi_json_number(j, "offset", image->offset);
    dvi_json_number(j, "offset_in_parent", image->offset_in_parent);
    dvi_json_number(j, "stored_size", image->stored_size);
    dvi_json_number(j, "size", image->size);
    dvi_json_text(j, "compression", devimg_compression_name(image->compression));
    dvi_json_answer(j, "registered", image->registered);
    dvi_json_number(j, "kernel_count", image->kernel_count);
    dvi_json_number(j, "required_sub_group_size", image->required_sub_group_size);
    numbers_json(j, "aspects", image->aspects, image->aspect_count);
    dvi_json_text(j, "version", image->version);
    dvi_json_text(j, "producer", image->producer);
    numbers_json(j, "capabilities", image->capabilities, image->capability_count);
    extensions_json(j, image);
    dvi_json_text(j, "compile_options", image->compile_options);
    dvi_json_text(j, "device_link", devimg_device_link_name(image->device_link));
    dvi_json_text(j, "note", image->note);
    dvi_json_number(j, "bundle_offset", image->bundle_offset);
    dvi_json_number(j, "bundle_size", image->bundle_size);
    dvi_json_end(j);
}

void dvi_json_images(struct dvi_json *j, const struct devimg_file *file,
                     const struct devimg_record *record)
{
    dvi_json_array(j, "images", DVI_JSON_LINES);
    for (uint32_t i = 0; record != NULL && i < record->image_count; i++)
        image_json(j, record, i, devimg_image_at(file, record->first_image + i));
    dvi_json_end(j);
}

static void module_json(struct dvi_json *j, const struct devimg_file *file,
                        const struct devimg_record *record, uint32_t index,
                        const struct devimg_module *module)
{
    dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
    dvi_json_index(j, "index", index);
    dvi_json_text(j, "unit", module->unit);
    dvi_json_array(j, "images", DVI_JSON_ONE_LINE);
    for (uint32_t i = 0; i < module->image_count; i++)
        dvi_json_index(j, NULL,
                       dvi_within(module->images[i], record->first_image, record->image_count));
    dvi_json_end(j);
    dvi_json_array(j, "targets", DVI_JSON_ONE_LINE);
    const char *target = NULL;
    for (uint32_t at = 0; (target = dvi_module_target(file, module, &at)) != NULL;)
        dvi_json_text(j, NULL, target);
    dvi_json_end(j);
    dvi_json_array(j, "kernels", DVI_JSON_ONE_LINE);
    for (uint32_t i = 0; i < module->name_count; i++)
        dvi_json_text(j, NULL, module->names[i]);
    dvi_json_end(j);
    dvi_json_end(j);
}

void dvi_json_modules(struct dvi_json *j, const struct devimg_file *file,
                      const struct devimg_record *record)
{
    dvi_json_array(j, "modules", DVI_JSON_LINES);
    for (uint32_t i = 0; record != NULL && i < record->module_count; i++)
        module_json(j, file, record, i, devimg_module_at(file, record->first_module + i));
    dvi_json_end(j);
}

static void kernel_json(struct dvi_json *j, const struct devimg_file *file,
                        const struct devimg_record *record, const struct devimg_kernel *k)
{
    char name[DVI_NAME_ROOM];
    const struct devimg_image *image = devimg_image_at(file, k->image);
    dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
    dvi_json_text(j, "name", k->name);
    dvi_json_text(j, "demangled", dvi_demangle(k->name, name));
    dvi_json_index(j, "image", dvi_within(k->image, record->first_image, record->image_count));
    dvi_json_index(j, "module", dvi_within(k->module, record->first_module, record->module_count));
    dvi_json_text(j, "target", image != NULL ? image->target : NULL);
    dvi_json_number(j, "sub_group_size", k->sub_group_size);
    dvi_json_number(j, "required_sub_group_size", k->required_sub_group_size);
    dvi_json_number(j, "code_size", k->code_size);
    dvi_json_number(j, "registers", k->registers);
    dvi_json_number(j, "private_size", k->private_size);
    dvi_json_number(j, "spill_size", k->spill_size);
    dvi_json_number(j, "slm_size", k->slm_size);
    dvi_json_number(j, "scratch_size", k->scratch_size);
    dvi_json_number(j, "barrier_count", k->barrier_count);
    dvi_json_number(j, "constant_size", k->constant_size);
    dvi_json_number(j, "sgpr_count", k->sgpr_count);
    dvi_json_number(j, "agpr_count", k->agpr_count);
    dvi_json_number(j, "vgpr_spill_count", k->vgpr_spill_count);
    dvi_json_number(j, "sgpr_spill_count", k->sgpr_spill_count);
    dvi_json_number(j, "kernarg_size", k->kernarg_size);
    if (!k->features_known && k->features == 0) {
        dvi_json_null(j, "features");
    } else {
        dvi_json_array(j, "features", DVI_JSON_ONE_LINE);
        for (uint32_t bit = 1; bit != 0; bit <<= 1)
            if ((k->features & bit) != 0 && devimg_feature_name(bit) != NULL)
                dvi_json_text(j, NULL, devimg_feature_name(bit));
        dvi_json_end(j);
    }
    dvi_json_end(j);
}

void dvi_json_kernels(struct dvi_json *j, const struct devimg_file *file,
                      const struct devimg_record *record, const uint8_t *shown)
{
    dvi_json_array(j, "kernels", DVI_JSON_LINES);
    for (uint32_t i = 0; record != NULL && i < record->kernel_count; i++) {
        const uint32_t index = record->first_kernel + i;
        if (shown == NULL || shown[index])
            kernel_json(j, file, record, devimg_kernel_at(file, index));
    }
    dvi_json_end(j);
}

void dvi_json_file(struct dvi_output *out, const struct devimg_file *file, const char *path,
                   const struct dvi_findings *findings, bool kernels, const uint8_t *shown)
{
    size_t at = 0;
    for (uint32_t r = 0; r < devimg_record_count(file); r++) {
        const struct devimg_record *record = devimg_record_at(file, r);
        out->record_count++;
        dvi_json_object(&out->j, NULL, DVI_JSON_LINES);
        dvi_json_record_head(&out->j, path, record);
        dvi_json_images(&out->j, file, record);
        dvi_json_modules(&out->j, file, record);
        if (kernels)
            dvi_json_kernels(&out->j, file, record, shown);
        dvi_findings_json(out, file, r, findings, &at);
        dvi_json_end(&out->j);
    }
}
