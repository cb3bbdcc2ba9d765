// Checks the list of what a user installs (npm sbom, CycloneDX), which comes on standard input: each package has a
// version and a known licence, and docs/dependencies.md has the licences with their numbers of packages.
import { readFileSync } from 'node:fs'

const allowed = [
  'MIT',
  '(MIT AND Zlib)',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'MPL-2.0',
  'Unlicense',
  'Apache-2.0',
  '0BSD',
  'BlueOak-1.0.0',
]
const { components } = JSON.parse(readFileSync(0, 'utf8'))
const licenceOf = ({ licenses = [] }) =>
  licenses.map(({ license, expression }) => expression ?? license.id ?? license.name).join(', ')
const faults = components.flatMap((component) => {
  const { name, version } = component
  const licence = licenceOf(component)
  if (!version) return [`${name}: no version`]
  return allowed.includes(licence) ? [] : [`${name} ${version}: licence ${licence || 'unknown'}`]
})
const counted = Object.groupBy(components, licenceOf)
const page = readFileSync(new URL('../docs/dependencies.md', import.meta.url), 'utf8')
for (const [licence, { length }] of Object.entries(counted)) {
  if (!page.includes(`| ${licence} | ${length} |`)) {
    faults.push(`docs/dependencies.md: expected the row | ${licence} | ${length} |`)
  }
}
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.stdout.write(`${components.length} packages: ${faults.length} faults\n`)
process.exitCode = faults.length === 0 ? 0 : 1
