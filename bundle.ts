/**
 * `npm run build` writes the package's code to `dist/`: one file for the command, for each public file and for each
 * thread, and the parts that these share. The threads of a run share none: each is whole. Fewer files start in half of
 * the CPU. It also writes an empty store, which new stores copy.
 */
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join, relative } from 'node:path'
import { type OutputChunk, rolldown } from 'rolldown'
import { type Part, partsOf } from './bundle-parts.ts'
import bundledFile from './bundled.json' with { type: 'json' }
import { builtStorePath } from './src/store/session/empty-store.ts'
import { openStore } from './src/store/session/open.ts'

const root = import.meta.dirname
const sources = join(root, 'src')
const target = join(root, 'dist')
const licences = join(target, 'licences.txt')

/**
 * Libraries of many files, or that every command loads; with what they import. Others stay packages of their own. Those of
 * `bundled.json` are whole in the bundle, so that nobody installs them; the declarations of types need the two others.
 */
const inlined = [...bundledFile.libraries, '@duckdb/node-api', 'zod']

/** Files of libraries that a page holds as they were published, for `src/chart/interactive.ts`. */
const published = ['vega/build/vega.min.js', 'vega-interpreter/build/vega-interpreter.js']

/** What the bundler adds for syntax that the oldest Node lacks. */
const compilerHelpers = '@oxc-project/runtime'

const packageOf = (id: string) => /^(@[^/]+\/)?[^/]+/.exec(id)![0]

/** Builds `dist/`, except for the declarations of types. */
export async function bundle(): Promise<void> {
  rmSync(target, { recursive: true, force: true })
  const threads = globSync('run/**/*.worker.ts', { cwd: sources })
  const files = globSync(['index.ts', 'cli/main.ts', 'public/*.ts', '**/*.worker.ts'], {
    cwd: sources,
    exclude: ['run/**'],
  })
  const written = [await write(files, partsOf(sources, await importsOf(files)))]
  for (const thread of threads) written.push(await write([thread]))
  mkdirSync(join(target, 'chart'), { recursive: true })
  for (const file of published) {
    copyFileSync(join(root, 'node_modules', file), join(target, 'chart', basename(file)))
  }
  const empty = await openStore(builtStorePath())
  empty.close()
  const modules = written.flat().flatMap(({ moduleIds }) => moduleIds)
  const folders = new Set(
    modules.flatMap((id) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []),
  )
  writeFileSync(licences, [...folders].toSorted().map(licenceOf).join('\n\n'))
}

const inputOf = (files: readonly string[]) => ({
  input: Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ''), join(sources, file)])),
  platform: 'node' as const,
  external: (id: string, from: string | undefined) => isOutside(id, from ?? root),
})

/** What each module imports as it is loaded. */
async function importsOf(files: readonly string[]): Promise<Map<string, readonly string[]>> {
  const imports = new Map<string, readonly string[]>()
  const read = await rolldown({
    ...inputOf(files),
    plugins: [
      { name: 'imports', moduleParsed: (each) => void imports.set(each.id, each.importedIds) },
    ],
  })
  await read.generate()
  await read.close()
  return imports
}

/** Writes files with the parts that they share. */
async function write(files: readonly string[], groups?: Part[]): Promise<OutputChunk[]> {
  const built = await rolldown({
    ...inputOf(files),
    plugins: [{ name: 'places', transform: withPlace }],
  })
  const { output } = await built.write({
    dir: target,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name]-[hash].js',
    sourcemap: true,
    ...(groups === undefined ? {} : { codeSplitting: { groups } }),
    banner: ({ fileName }) => {
      const up = '../'.repeat(fileName.split('/').length - 1) || './'
      return `const __urlOf = (url, place) => new URL('${up}' + place, url).href;`
    },
  })
  await built.close()
  return output.filter((part) => part.type === 'chunk')
}

/** Builds `dist/` unless it is newer than all that it is made of. */
export async function bundleIfOld(): Promise<void> {
  const made = [
    ...globSync(['src/**/*.{ts,sql}', 'bundle*.ts'], { cwd: root }),
    'package-lock.json',
  ]
  const changedMs = Math.max(...made.map((file) => statSync(join(root, file)).mtimeMs))
  if (!existsSync(licences) || statSync(licences).mtimeMs < changedMs) await bundle()
}

/** Whether a library is loaded from its own package. What an inlined one imports is inlined, too, except for binaries. */
function isOutside(id: string, from: string): boolean {
  if (/^[./]/.test(id) || isBuiltin(id)) return isBuiltin(id)
  const isOfLibrary = from.includes('/node_modules/') && packageOf(id) !== '@duckdb/node-bindings'
  return !isOfLibrary && ![...inlined, compilerHelpers].includes(packageOf(id))
}

/** Keeps the URL of each module what it is without a bundle, so that its SQL, style sheets and threads are found. */
function withPlace(code: string, id: string) {
  if (!id.startsWith(`${sources}/`) || !code.includes('import.meta.url')) return null
  const place = relative(sources, id).replace(/ts$/, 'js')
  return {
    code: code.replaceAll('import.meta.url', `__urlOf(import.meta.url, '${place}')`),
    map: null,
  }
}

function licenceOf(folder: string): string {
  const [file] = globSync('{LICENSE,LICENCE,License,license,COPYING}*', { cwd: folder })
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly version: string
  }
  if (file === undefined) throw new Error(`${name} has no licence to include`)
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8')}`
}

if (import.meta.main) await bundle()
