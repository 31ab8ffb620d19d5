#pragma once
namespace proj {
constexpr int kFromOther = 8;
namespace config { constexpr int kSize = 8, kUsing = 8; }
}
namespace used { inline constexpr int kUsed = 8; }
#define SAME_NAME 16
