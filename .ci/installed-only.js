// Of a list of packages (npm sbom, CycloneDX) on standard input, what a user installs. `npm sbom --omit=dev` would also omit each
// package of ours that a development tool depends on, such as zod.
import { readFileSync } from 'node:fs'

const list = JSON.parse(readFileSync(0, 'utf8'))
const isForDevelopment = ({ properties = [] }) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')
const components = list.components.filter((each) => !isForDevelopment(each))
const kept = new Set(components.map((each) => each['bom-ref']))
const isKept = (ref) => kept.has(ref) || ref === list.metadata.component['bom-ref']
const dependencies = list.dependencies
  .filter(({ ref }) => isKept(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isKept) }))
process.stdout.write(`${JSON.stringify({ ...list, components, dependencies }, null, 2)}\n`)
