// Bundles the extension into dist/extension.js, or (--tests) each test into out/, where the editor and the client that
// live in it are stand-ins: there is no module `vscode` outside the editor.
import { fileURLToPath } from "node:url";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const tests = process.argv.includes("--tests");
const common = { bundle: true, platform: "node", format: "cjs", target: "node18", logLevel: "warning" };

/** The licences of the packages that these files are from: what is bundled is distributed. */
function licenses(files) {
  const folders = files.map((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+(?:\/node_modules\/[^/]+)*/.exec(file)?.[0]);
  const sections = [...new Set(folders)].filter(Boolean).sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(here(`${folder}/package.json`), "utf8"));
    const file = readdirSync(here(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${folder} brings no licence`);
    return `${name} ${version} (${license})\n\n${readFileSync(here(`${folder}/${file}`), "utf8").trim()}\n`;
  });
  return sections.join(`\n${"-".repeat(72)}\n\n`);
}

rmSync(here(tests ? "out" : "dist"), { recursive: true, force: true });
if (tests) {
  const files = readdirSync(here("test")).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...common,
    entryPoints: files.map((name) => here(`test/${name}`)),
    outdir: here("out"),
    alias: {
      vscode: here("test/vscode_stub.ts"),
      "vscode-languageclient/node": here("test/client_stub.ts"),
    },
  });
} else {
  const { metafile } = await build({
    ...common,
    entryPoints: [here("src/extension.ts")],
    outfile: here("dist/extension.js"),
    external: ["vscode"],
    minify: true,
    legalComments: "none",
    metafile: true,
    absWorkingDir: here("."),
  });
  writeFileSync(here("dist/third_party_licenses.txt"), licenses(Object.keys(metafile.inputs)));
}
