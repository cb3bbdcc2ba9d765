import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Each link, picture and anchor of the built site leads somewhere. Run after the build; exit code 1 if one does not. */
const dist = resolve(import.meta.dirname, 'dist')
const pages = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /^(?!files\/).*\.html$/.test(name),
)
const htmlOf = new Map(pages.map((page) => [page, readFileSync(join(dist, page), 'utf8')]))
const anchors = new Map(
  [...htmlOf].map(([page, html]) => [
    page,
    new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)),
  ]),
)

/** The file that a server with clean addresses sends for a path, relative to the site, or null. */
function fileAt(path: string): string | null {
  const candidates = [path, `${path}.html`, join(path, 'index.html')]
  const isFile = (name: string) =>
    existsSync(join(dist, name)) && statSync(join(dist, name)).isFile()
  return candidates.map((name) => name.replace(/^\//, '')).find(isFile) ?? null
}

let links = 0
const dead: string[] = []
for (const [page, html] of htmlOf) {
  for (const [, address] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
    if (/^(\w+:|\/\/)/.test(address!)) continue
    links += 1
    const [path, anchor] = decodeURI(address!.replaceAll('&amp;', '&')).split('#') as [
      string,
      string?,
    ]
    const whole = path.startsWith('/') ? path : join('/', dirname(page), path)
    const file = path === '' ? page : fileAt(whole)
    const isDead =
      file === null ||
      (anchor !== undefined && anchor !== '' && anchors.get(file)?.has(anchor) === false)
    if (isDead) dead.push(`${page}: ${address}`)
  }
}
for (const line of new Set(dead)) process.stderr.write(`dead link in ${line}\n`)
process.stdout.write(`${pages.length} pages, ${links} links, ${new Set(dead).size} dead\n`)
process.exitCode = dead.length === 0 ? 0 : 1
