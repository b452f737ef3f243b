// registry.js FOLDER: an npm registry of the packages in a folder, on this machine alone, until it is ended. Prints its address.
"use strict";
const { createServer } = require("node:http");
const { createHash } = require("node:crypto");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const known = new Map();
for (const file of fs.readdirSync(process.argv[2]).filter((name) => /^ctxsim-npm-(?!with).*\.tgz$/.test(name))) {
  const place = path.join(process.argv[2], file);
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", place, "package/package.json"]));
  known.set(manifest.name, { manifest, file, bytes: fs.readFileSync(place) });
}
const server = createServer((request, response) => {
  const asked = decodeURIComponent(request.url).slice(1);
  const packed = [...known.values()].find(({ file }) => asked === `files/${file}`);
  if (packed) return response.end(packed.bytes);
  const found = known.get(asked);
  if (!found) return response.writeHead(404, { "content-type": "application/json" }).end('{"error":"not found"}');
  const { manifest, file, bytes } = found;
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const dist = { tarball: `http://127.0.0.1:${server.address().port}/files/${file}`, integrity };
  const versions = { [manifest.version]: { ...manifest, dist } };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ name: manifest.name, "dist-tags": { latest: manifest.version }, versions }));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
