// Of a list of packages (npm sbom, CycloneDX) on standard input, what a user gets: what npm installs, and the libraries that the
// bundle contains (bundled.json), with what they depend on. `npm sbom --omit=dev` would omit those, and each package of
// ours that a development tool depends on, such as zod.
import { readFileSync } from 'node:fs'

const list = JSON.parse(readFileSync(0, 'utf8'))
const { libraries } = JSON.parse(readFileSync(new URL('../bundled.json', import.meta.url), 'utf8'))
const isForDevelopment = ({ properties = [] }) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')
const nameOf = ({ group, name }) => (group === undefined ? name : `${group}/${name}`)
const needs = new Map(list.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]))

const kept = new Set(
  list.components
    .filter((each) => !isForDevelopment(each) || libraries.includes(nameOf(each)))
    .map((each) => each['bom-ref']),
)
for (const ref of kept) for (const needed of needs.get(ref) ?? []) kept.add(needed)
const components = list.components.filter((each) => kept.has(each['bom-ref']))
const isKept = (ref) => kept.has(ref) || ref === list.metadata.component['bom-ref']
const dependencies = list.dependencies
  .filter(({ ref }) => isKept(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isKept) }))
process.stdout.write(`${JSON.stringify({ ...list, components, dependencies }, null, 2)}\n`)
