import { defineConfig } from "vite";

// One script, one style sheet, no source maps: what is compiled into the binary stays small.
export default defineConfig({
  base: "./",
  build: { target: "es2021", outDir: "dist", assetsInlineLimit: 0, modulePreload: false, reportCompressedSize: false },
});
