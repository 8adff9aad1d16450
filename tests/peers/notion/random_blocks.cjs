// Random blocks of official shape, from the schema of the official typings:
//   node random_blocks.cjs schema.json blocks.json COUNT SEED
// Every block type gets its turn; the same seed gives the same file.
const fs = require("node:fs")
const path = require("node:path")
const { createRequire } = require("node:module")

const [schemaFile, outFile, count, seed] = process.argv.slice(2)
const jsf = createRequire(path.resolve("package.json"))("json-schema-faker")

// mulberry32: a small generator of 32-bit state, enough for test data.
function generator(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function uuid() {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16))
  digits[12] = "4"
  digits[16] = "8"
  return digits.join("").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

const random = generator(Number(seed))
const { definitions } = JSON.parse(fs.readFileSync(schemaFile, "utf8"))
const types = definitions.BlockObjectResponse.anyOf.map((one) => one.$ref.split("/").pop())

// References replaced by what they mean: the generator gives up on deep chains of them. The types of
// blocks are not recursive. Content that is a choice of objects (files: hosted or external) is chosen
// here, as the generator fails on it.
function inlined(node) {
  if (Array.isArray(node)) return node.map(inlined)
  if (node === null || typeof node !== "object") return node
  if (node.$ref) return inlined(definitions[decodeURIComponent(node.$ref.split("/").pop())])
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inlined(value)]))
}
const schemas = types.map((type) => inlined(definitions[type]))

function schemaOf(index) {
  const block = schemas[index % schemas.length]
  const kind = block.properties.type.const
  const content = block.properties[kind]
  if (!content.anyOf) return block
  const chosen = content.anyOf[Math.floor(random() * content.anyOf.length)]
  return { ...block, properties: { ...block.properties, [kind]: chosen } }
}

jsf.option({
  random,
  alwaysFakeOptionals: false,
  optionalsProbability: 0.5,
  maxItems: 4,
  maxLength: 60,
  failOnInvalidTypes: false,
})
// The generator drops empty objects inside a choice; a bot's details may be empty and must be there.
function withBots(node) {
  if (node === null || typeof node !== "object") return
  if (node.object === "user" && node.type === "bot" && !node.bot) node.bot = {}
  Object.values(node).forEach(withBots)
}

const blocks = []
for (let index = 0; index < Number(count); index += 1) {
  const block = jsf.generate(schemaOf(index))
  // Typed as strings only; anything but an id and a time there is a fault no real answer has.
  block.id = uuid()
  block.created_time = block.last_edited_time = "2026-11-02T09:00:00.000Z"
  withBots(block)
  blocks.push(block)
}
fs.writeFileSync(outFile, JSON.stringify(blocks))
