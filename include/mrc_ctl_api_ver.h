/* Versions of the controller (mrc_ctl.h) interface: which one a program is written for, and which ones the
 * library serves.
 *
 * A version is one number, 8 bits major, 8 bits minor, 16 bits subminor. A program that defines
 * MRC_CTL_API_VER_USED before the include sees exactly the declarations of that version; without it, the
 * current one. MRC-API-002: a version newer than this header does not compile.
 */
#ifndef MRC_CTL_API_VER_H
#define MRC_CTL_API_VER_H

#define MRC_CTL_API_VER_MAJOR_OFFSET 24
#define MRC_CTL_API_VER_MINOR_OFFSET 16
#define MRC_CTL_API_VER_SUBMINOR_OFFSET 0

#define MRC_CTL_API_VER(major, minor, subminor)                                                          \
  (((0u + (major)) << MRC_CTL_API_VER_MAJOR_OFFSET) | ((0u + (minor)) << MRC_CTL_API_VER_MINOR_OFFSET) | \
   ((0u + (subminor)) << MRC_CTL_API_VER_SUBMINOR_OFFSET))

#define MRC_CTL_API_VER_LATEST MRC_CTL_API_VER(0xFF, 0xFF, 0xFFFF)
#define MRC_CTL_API_CURRENT_VERSION MRC_CTL_API_VER(1, 0, 1)
#define MRC_CTL_API_LAST_SUPPORTED_VERSION MRC_CTL_API_VER(0, 0, 0)
#define MRC_CTL_VENDOR_API_CURRENT_VERSION MRC_CTL_API_VER(1, 0, 0)
#define MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION MRC_CTL_API_VER(0, 0, 0)

#ifndef MRC_CTL_API_VER_USED
#define MRC_CTL_API_VER_USED MRC_CTL_API_CURRENT_VERSION
#elif MRC_CTL_API_VER_USED == MRC_CTL_API_VER_LATEST
#undef MRC_CTL_API_VER_USED
#define MRC_CTL_API_VER_USED MRC_CTL_API_CURRENT_VERSION
#elif MRC_CTL_API_VER_USED > MRC_CTL_API_CURRENT_VERSION
#error \
    "MRC_CTL_API_VER_USED is newer than this header: install a newer OpenMRC, or define it as MRC_CTL_API_CURRENT_VERSION"
#endif

#ifndef MRC_CTL_VENDOR_API_VER_USED
#define MRC_CTL_VENDOR_API_VER_USED MRC_CTL_VENDOR_API_CURRENT_VERSION
#elif MRC_CTL_VENDOR_API_VER_USED == MRC_CTL_API_VER_LATEST
#undef MRC_CTL_VENDOR_API_VER_USED
#define MRC_CTL_VENDOR_API_VER_USED MRC_CTL_VENDOR_API_CURRENT_VERSION
#elif MRC_CTL_VENDOR_API_VER_USED > MRC_CTL_VENDOR_API_CURRENT_VERSION
#error "MRC_CTL_VENDOR_API_VER_USED is newer than this header: install a newer OpenMRC"
#endif

#endif /* MRC_CTL_API_VER_H */
