import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

/**
 * Allowed imports between rooms (docs/architecture.md). A room may always import itself, and
 * `user`.
 */
const mayImport: Record<string, readonly string[]> = {
  user: [],
  money: [],
  tokens: [],
  contract: ['money', 'tokens'],
  price: ['money', 'tokens', 'contract', 'attempt'],
  attempt: [],
  measure: ['tokens', 'contract', 'attempt'],
  limits: ['contract'],
  credits: [],
  chart: [],
  scenario: ['contract', 'measure'],
  schedule: ['scenario'],
  store: ['money', 'tokens', 'attempt', 'measure'],
  client: ['money', 'tokens', 'contract', 'attempt'],
  exporter: ['money', 'tokens', 'attempt', 'measure', 'store'],
  run: [
    'price',
    'money',
    'tokens',
    'contract',
    'attempt',
    'measure',
    'scenario',
    'schedule',
    'client',
    'store',
    'exporter',
  ],
  probe: ['money', 'tokens', 'contract', 'attempt', 'limits', 'credits', 'client', 'store'],
  audit: ['price', 'money', 'tokens', 'contract', 'attempt', 'limits', 'credits', 'store'],
  report: [
    'price',
    'money',
    'tokens',
    'contract',
    'attempt',
    'measure',
    'store',
    'exporter',
    'audit',
    'chart',
  ],
  otlp: ['measure', 'store'],
  portal: ['money', 'tokens', 'contract', 'measure', 'store', 'chart', 'report'],
  service: ['money', 'tokens', 'contract', 'chart'],
  fleet: ['run', 'money'],
}
/** These may import every room. */
const doors = ['cli', 'index.ts', 'public']

const source = resolve(import.meta.dirname, '../src')
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
)
const roomOf = (file: string) => file.split(/[\\/]/)[0]!

/** Every relative import of a file, static or dynamic, and every worker it starts. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(source, file), 'utf8')
  return [
    ...text.matchAll(/(?:from|import|import\(|new URL\()\s*['"](\.{1,2}\/[^'"]+\.[jt]s)['"]/g),
  ].map((match) => relative(source, resolve(source, dirname(file), match[1]!)))
}

test('each room imports only the rooms that the architecture allows', () => {
  const breaches = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => {
        const [from, to] = [roomOf(file), roomOf(target)]
        return (
          ![from, 'user'].includes(to) && !doors.includes(from) && !mayImport[from]?.includes(to)
        )
      })
      .map((target) => `${file} -> ${target}`),
  )
  expect(breaches).toEqual([])
})

test('the table of rooms in architecture.md says what each may import', () => {
  const text = readFileSync(join(source, '../docs/architecture.md'), 'utf8')
  const [, names = ''] = /(`client`.*) handle contracts, answers or logs/.exec(text)!
  const withMoney = [...names.matchAll(/`(\w+)`/g)].map(([, room]) => room!)
  expect(withMoney.length).toBeGreaterThan(5)
  const rows = [...text.matchAll(/^\| `(\w+)` \|.*\| ([^|]+) \|$/gm)]
  const written = rows.map(([, room, list]) => {
    const listed = list === '–' ? [] : list!.split(', ')
    const all = withMoney.includes(room!) ? ['money', 'tokens', ...listed] : listed
    return [room!, [...new Set(all)].toSorted()]
  })
  const enforced = Object.entries(mayImport).map(([room, list]) => [room, [...list].toSorted()])
  expect(Object.fromEntries(written)).toEqual(Object.fromEntries(enforced))
})

test('the tables of folders in architecture.md are the folders on disk', () => {
  const text = readFileSync(join(source, '../docs/architecture.md'), 'utf8')
  const [, part = ''] = /## Rooms of many folders\n([\s\S]*?)\n## /.exec(text)!
  const tables = part.split(/^\| folder of /m).slice(1)
  const written = tables.map((table) => {
    const [room, ...folders] = [...table.matchAll(/^(?:\| )?`([\w-]+)` \|/gm)].map(
      ([, name]) => name!,
    )
    return [room!, folders.toSorted()] as const
  })
  const onDisk = written.map(([room]) => {
    const entries = readdirSync(join(source, room), { withFileTypes: true })
    return [
      room,
      entries
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .toSorted(),
    ]
  })
  expect(written.map(([room]) => room)).toEqual(['run', 'client', 'portal', 'store', 'cli'])
  expect(written).toEqual(onDisk)
})

test('index.ts is the sum of the public files, and each is an entry of the package', () => {
  const parts = files.filter((file) => roomOf(file) === 'public')
  const { exports } = JSON.parse(readFileSync(join(source, '../package.json'), 'utf8'))
  const named = parts.map((file) => file.replace(/^public.|\.ts$/g, ''))
  expect(named.length).toBeGreaterThan(5)
  expect(Object.keys(exports).toSorted()).toEqual(['.', ...named.map((name) => `./${name}`)])
  expect(importsOf('index.ts')).toEqual(parts.toSorted())
})

/** Values that are public, each with the file that declares or passes it on. */
function publicValues(): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const file of files.filter((each) => roomOf(each) === 'public')) {
    const text = readFileSync(join(source, file), 'utf8')
    for (const [, name] of text.matchAll(/^export (?:async )?function (\w+)/gm)) {
      values.set(name!, file)
    }
    for (const [, names] of text.matchAll(/^export \{([^}]*)\} from/gm)) {
      for (const name of names!.split(',').map((each) => each.trim())) {
        if (/^\w+$/.test(name)) values.set(name, file)
      }
    }
  }
  return values
}

/** Rooms have these under a public name, for what only a terminal needs: an engine, a dialect. */
const ofTerminals = ['cli/usage/usage.ts: readUsage of report/usage/read.ts']

/** A command names the option of a file in its errors, so it has the room's own. */
const withOption = ['loadContract', 'loadProfile']

test('a command takes what is public from its public file', () => {
  const values = publicValues()
  expect(values.size).toBeGreaterThan(25)
  const breaches = files
    .filter((file) => roomOf(file) === 'cli')
    .flatMap((file) => {
      const text = readFileSync(join(source, file), 'utf8')
      const imports = text.matchAll(/^import \{([^}]*)\} from '(\.[^']+)'/gm)
      return [...imports].flatMap(([, names, target]) => {
        const from = join(dirname(file), target!)
        if (['public', 'user'].includes(roomOf(from))) return []
        return names!
          .split(',')
          .map((name) => name.trim().split(' as ')[0]!)
          .filter((name) => values.has(name) && !withOption.includes(name))
          .map((name) => `${file}: ${name} of ${from}`)
      })
    })
  expect(breaches.toSorted()).toEqual(ofTerminals.toSorted())
})

test('every type that a signature of the public API names is public', () => {
  const values = publicValues()
  const doors = files.filter((file) => roomOf(file) === 'public')
  const types = new Set(
    doors.flatMap((file) => {
      const text = readFileSync(join(source, file), 'utf8')
      const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from/gm)].map(
        ([, names]) => names!,
      )
      const own = [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name!)
      return [...lists.flatMap((names) => names.match(/[A-Z]\w+/g) ?? []), ...own]
    }),
  )
  const signatures = [...doors, ...publicOrigins()].flatMap((file) => {
    const text = readFileSync(join(source, file), 'utf8')
    return [...text.matchAll(/^export (?:async )?function (\w+)/gm)]
      .filter(([, name]) => values.has(name!))
      .map(({ index }) => text.slice(index, text.indexOf(' {\n', index)))
  })
  const builtIn = ['Promise', 'Readonly', 'Partial', 'Pick', 'Omit', 'Record']
  const named = signatures.flatMap((text) => {
    const own = [...text.matchAll(/[<,] ?(\w+) extends /g)].map(([, parameter]) => parameter)
    return (text.match(/(?<!')\b[A-Z]\w+/g) ?? []).filter((type) => !own.includes(type))
  })
  expect(signatures.length).toBeGreaterThan(20)
  expect([...new Set(named)].filter((type) => !builtIn.includes(type) && !types.has(type))).toEqual(
    [],
  )
})

/** Files whose values public files pass on. */
const publicOrigins = (): ReadonlySet<string> =>
  new Set(files.filter((file) => roomOf(file) === 'public').flatMap(valueImportsOf))

test('a public file loads code of a room only when it is called', () => {
  const light =
    /^(?:store\/(?:session\/open|runs\/runs)|store\/import\/mapping|contract\/default|attempt\/|scenario\/|audit\/verdict|user\/)/
  const loaded = files
    .filter((file) => roomOf(file) === 'public')
    .flatMap((file) => valueImportsOf(file).map((target) => `${file} -> ${target}`))
    .filter((each) => !light.test(each.split(' -> ')[1]!))
  expect(loaded).toEqual([])
})

test('every room is in the table of allowed imports', () => {
  const rooms = new Set(files.map(roomOf))
  expect([...rooms].filter((room) => !(room in mayImport) && !doors.includes(room))).toEqual([])
})

/** Files that a file loads at run time: type imports do not count. */
function valueImportsOf(file: string): readonly string[] {
  const text = readFileSync(join(source, file), 'utf8')
  const imports = text.matchAll(
    /^(?:import|export)\s(?!type\s)(?:([^'";]*?)\sfrom\s*)?['"](\.[^'"]+)['"]/gm,
  )
  return [...imports]
    .filter(([, names]) => !/^\{(?:\s*type\s[^,}]+,?)+\s*\}$/.test(names ?? ''))
    .map(([, , target]) => join(dirname(file), target!))
}

/** Cyclic import chains, as `a -> b -> a`. */
function circlesAmong(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>()
  const circles: string[] = []
  const walk = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    else if (!done.has(file)) {
      for (const target of graph.get(file) ?? []) walk(target, [...path, file])
      done.add(file)
    }
  }
  for (const file of graph.keys()) walk(file, [])
  return circles
}

test('no file imports itself through others', () => {
  const graph = new Map(files.map((file) => [file, valueImportsOf(file)]))
  expect(graph.get('index.ts')!.length).toBeGreaterThan(5)
  expect(circlesAmong(graph)).toEqual([])
  expect(
    circlesAmong(
      new Map([
        ['a', ['b']],
        ['b', ['c']],
        ['c', ['b']],
      ]),
    ),
  ).toEqual(['b -> c -> b'])
})

/**
 * Files that take types from each other, in a circle of any length. None is added; who parts some takes them from the list. One thread
 * of a run and what it is told are one knot: a message names what a sender keeps, and a sender names its messages.
 */
const knownKnots = [
  'client: call/call row/attempt-context row/attempt stream/content-times stream/event-stream',
  'client: wire/http1/known-head wire/http1/response-framing',
  'probe: balances prober',
  'report: usage/board/cells usage/board/data usage/board/requests usage/board/types',
  `run: ${[
    'count/progress count/step-histograms count/tally count/times-by-step crew/coordinator',
    'crew/crew-figures crew/crew crew/following crew/messages crew/shard crew/stop-conditions',
    'crew/team crew/threads judge/thresholds/so-far money/budget money/run-money plan/crowd',
    'plan/phase-arrivals plan/phase-steps plan/planned-rate plan/turns-of-target',
    'record/recorder-place search/trial-counts search/trial-tasks send/active-phase send/flight',
    'tasks/running-task',
  ].join(' ')}`,
  'run: judge/conclude run',
]

/** Imports at the head of a file. A command loads its action when it runs, and the action takes the command's options. */
function namedImportsOf(file: string): readonly string[] {
  const text = readFileSync(join(source, file), 'utf8')
  return [...text.matchAll(/^(?:import|export)\s(?:[^'";]*?\sfrom\s*)?['"](\.[^'"]+)['"]/gm)].map(
    ([, target]) => join(dirname(file), target!),
  )
}

/** Sets of files that reach each other by imports, as `room: file file`. */
function knotsAmong(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const reached = new Map<string, ReadonlySet<string>>()
  for (const file of graph.keys()) {
    const seen = new Set<string>()
    const open = [...graph.get(file)!]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...(graph.get(next) ?? []))
    }
    reached.set(file, seen)
  }
  const inRoom = (file: string) => file.replace(/^\w+[\\/]|\.ts$/g, '').replaceAll('\\', '/')
  const knots = [...reached].map(([file, others]) => {
    const knot = [...others].filter((other) => reached.get(other)?.has(file))
    return knot.length < 2 ? null : `${roomOf(file)}: ${knot.toSorted().map(inRoom).join(' ')}`
  })
  return [...new Set(knots.filter((knot) => knot !== null))].toSorted()
}

test('no files import each other in a circle, not even types, but those that are known', () => {
  const graph = new Map(files.map((file) => [file, namedImportsOf(file)]))
  expect(knotsAmong(graph)).toEqual(knownKnots)
  const three = {
    'a/1.ts': ['a/2.ts'],
    'a/2.ts': ['a/3.ts'],
    'a/3.ts': ['a/1.ts'],
    'b.ts': ['a/1.ts'],
  }
  expect(knotsAmong(new Map(Object.entries(three)))).toEqual(['a: 1 2 3'])
})

/** Edits of text that is SQL by its name, or by what is looked for. */
const sqlEdit =
  /\b\w*[sS]ql(?:\([^)]*\))?\s*\.replace(?:All)?\(|\.replace(?:All)?\(\s*(?:['"`/][^'"`\n]*\b(?:SELECT|FROM|WHERE|JOIN|AS)\b|['"`]\/\*)/

test('a verdict is made by the builders of verdict.ts alone', () => {
  const byHand = files.filter(
    (file) =>
      roomOf(file) === 'audit' &&
      file !== join('audit', 'verdict.ts') &&
      /(?<!Extract<\w+, \{ )\bverdict: '(?:pass|fail|inconclusive|not-observed|not-promised)'/.test(
        readFileSync(join(source, file), 'utf8'),
      ),
  )
  expect(byHand).toEqual([])
})

test('SQL is written with parameters, and never edited as text', () => {
  const edits = files.filter((file) => sqlEdit.test(readFileSync(join(source, file), 'utf8')))
  expect(edits).toEqual([])
  expect("count(name).replace(' AS requests', '')").toMatch(sqlEdit)
  expect("oddSql.replaceAll('/* odd */', () => when)").toMatch(sqlEdit)
  expect('quartersSql(from).replace(cells, some)').toMatch(sqlEdit)
  expect("name.replaceAll('*', '')").not.toMatch(sqlEdit)
})

test('a query that fills a table says which columns it fills', () => {
  const byPlace = /\bINSERT INTO [\w.${}]+\s+(?:SELECT|FROM|WITH)\b/g
  const breaches = files.flatMap((file) =>
    (readFileSync(join(source, file), 'utf8').match(byPlace) ?? []).map((sql) => `${file}: ${sql}`),
  )
  expect(breaches).toEqual([])
})

test('only the store imports DuckDB', () => {
  const breaches = files.filter(
    (file) =>
      roomOf(file) !== 'store' && /from '@duckdb/.test(readFileSync(join(source, file), 'utf8')),
  )
  expect(breaches).toEqual([])
})

/** The files that a file loads when it is loaded, itself among them, and the libraries that they load. */
function loadedBy(entry: string) {
  const files = new Set<string>()
  const libraries = new Set<string>()
  const walk = (file: string) => {
    if (files.has(file)) return
    files.add(file)
    const text = readFileSync(join(source, file), 'utf8')
    for (const [, target] of text.matchAll(
      /^(?:import|export)\s(?!type\s)(?:[^'"]*?from\s*)?['"]([^'"]+)['"]/gm,
    )) {
      if (target!.startsWith('.')) walk(join(dirname(file), target!))
      else if (!target!.startsWith('node:')) libraries.add(target!)
    }
  }
  walk(entry)
  return { files, libraries: [...libraries].toSorted() }
}

test('the help of every command loads no library but commander', () => {
  const { files, libraries } = loadedBy('cli/main.ts')
  expect(files).toContain('cli/commands/probe.ts')
  expect(libraries).toEqual(['commander'])
})

test.each([
  'cli/runs/run.ts',
  'cli/runs/summary.ts',
  'cli/runs/compare.ts',
  'cli/audits/audit.ts',
  'cli/usage/usage.ts',
])('%s prints text, and loads no chart and no tokenizer before it is asked for one', (file) => {
  const { libraries } = loadedBy(file)
  expect(libraries).toContain('zod')
  expect(libraries.filter((name) => /^(vega|d3-|topojson|gpt-tokenizer)/.test(name))).toEqual([])
})

test('a thread of a run loads no library that it can do without', () => {
  const { files, libraries } = loadedBy('run/send/sender.worker.ts')
  expect(files).toContain('client/wire/http1/transport.ts')
  expect(libraries).toEqual([])
  expect(loadedBy('run/record/recorder.worker.ts').libraries).toEqual([
    '@duckdb/node-api',
    '@duckdb/node-api/lib/vectors/dataAccessors.js',
    '@duckdb/node-bindings',
  ])
})

test('no thread that shares its files with others waits as it is loaded', () => {
  // The threads of a run are whole files. Elsewhere, the end of such a wait during `terminate` ends the process.
  const threads = files.filter((file) => file.endsWith('.worker.ts') && roomOf(file) !== 'run')
  expect(threads).toContain('audit/rate.worker.ts')
  const waiting = threads
    .flatMap((thread) => [...loadedBy(thread).files])
    .filter((file) =>
      /^(?!.*\basync\b)[^\s/*].*\bawait\b/m.test(readFileSync(join(source, file), 'utf8')),
    )
  expect(waiting).toEqual([])
})

test('no list is spread into a call that grows or compares, which puts each element on the stack', () => {
  const call = /(?:Math\.(?:max|min)|\.(?:push|unshift|splice))\(/g
  const breaches = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[jt]s$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(source, file), 'utf8')
      return [...text.matchAll(call)].flatMap(({ index, 0: start }) => {
        const given = argumentsFrom(text, index + start.length)
        return spreads(given) ? [`${file}: ${start}${given.slice(0, 40)}`] : []
      })
    })
  // `largest`, `smallest` of user/extremes.ts, and a loop, take lists of any length.
  expect(breaches).toEqual([])
})

/** `assay.js` is the one script that Node runs: an old Node, whose types nobody installs, must read it, too. */
const scripts = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.js') && file !== join('cli', 'assay.js'))
  .sort()

test('every script of a page is type-checked, and none switches the checker off', {
  tags: 'whole',
  timeout: 30_000,
}, () => {
  const root = dirname(source)
  const config = ['tsc', '-p', 'tsconfig.browser.json']
  const run = (...words: string[]) =>
    execFileSync('npx', ['--no-install', ...config, ...words], { cwd: root, encoding: 'utf8' })
  const checked = run('--listFilesOnly')
    .split('\n')
    .filter((file) => file.startsWith(source) && file.endsWith('.js'))
    .map((file) => relative(source, file))
    .sort()
  expect(checked).toEqual(scripts)
  expect(JSON.parse(run('--showConfig')).compilerOptions).toMatchObject({
    ...{ checkJs: true, strict: true, noUncheckedIndexedAccess: true },
  })
  const silent = scripts.filter((file) =>
    /@ts-(?:nocheck|ignore|expect-error)|\{\s*any\b/.test(readFileSync(join(source, file), 'utf8')),
  )
  expect(silent).toEqual([])
})

test('a script that code outside a browser imports is checked without the types of a browser', () => {
  // A script that is read as text is no import.
  const imported = files.flatMap((file) =>
    [...readFileSync(join(source, file), 'utf8').matchAll(/from '(\.{1,2}\/[^']+\.js)'/g)].map(
      ([, target]) => relative(source, resolve(source, dirname(file), target!)),
    ),
  )
  expect(imported).toContain(join('report', 'usage', 'board', 'sums.js'))
  expect(
    imported.filter((file) => !/^\/\/ @ts-check$/m.test(readFileSync(join(source, file), 'utf8'))),
  ).toEqual([])
})

/** The text up to the bracket that closes a call. */
function argumentsFrom(text: string, from: number): string {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if ('([{'.includes(text[at]!)) depth++
    if (')]}'.includes(text[at]!) && depth-- === 0) return text.slice(from, at)
  }
  return text.slice(from)
}

/** Whether one of the arguments of a call is a spread list; those of an inner bracket are not. */
function spreads(given: string): boolean {
  let depth = 0
  for (let at = 0; at < given.length; at++) {
    if ('([{'.includes(given[at]!)) depth++
    if (')]}'.includes(given[at]!)) depth--
    if (depth === 0 && given.startsWith('...', at)) return true
  }
  return false
}
