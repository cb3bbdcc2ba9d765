import { writeFileSync } from 'node:fs'
import { Argument, Command, Option } from 'commander'
import { loadContract } from '../contract/load.ts'
import { type PageName, pageNames, writeReport } from '../report/page.ts'
import { writePictures } from '../report/pictures.ts'
import { makeText, type TextFormat, textFormats } from '../report/text.ts'
import { usageDimensions } from '../report/usage/shape.ts'
import { openExistingStore } from '../store/open.ts'
import { readProfileFile } from './profile-file.ts'
import { type UsageFlags, usageScopeOf } from './usage-scope.ts'

interface Options extends UsageFlags {
  readonly db: string
  readonly out?: string
  readonly format: 'html' | TextFormat
  readonly reports?: string
  readonly contract?: string
  readonly profile?: string
  readonly png?: string
  readonly json?: boolean
}

/** `assay report <page> [run…]`: a page that needs nothing else, made from the store. */
export function reportCommand(): Command {
  return new Command('report')
    .description('Make a page about runs: one HTML file that opens offline.')
    .addArgument(new Argument('<page>', 'which page').choices(pageNames))
    .argument('[run...]', 'runs that it tells of; the last one unless given, all for usage')
    .option('--db <file>', 'the store', 'assay.duckdb')
    .option('--out <file>', 'where to write it; assay-<page>.html, or standard output for text')
    .addOption(
      new Option('--format <format>', 'a page, or what it says as text')
        .choices(['html', ...textFormats])
        .default('html'),
    )
    .option('--timezone <zone>', 'IANA zone of hours and days', 'UTC')
    .option(
      '--from <date>',
      'usage: from this date or moment; the first day of usage, at most 31 back, unless given',
    )
    .option('--to <date>', 'usage: to this date or moment; the end of the last day unless given')
    .addOption(
      new Option('--by <dimension>', 'usage: what its bars are stacked by')
        .choices(usageDimensions)
        .default('model'),
    )
    .option('--source <name...>', 'usage: only these imported logs', [])
    .option('--grants <file>', 'usage: YAML list of what is held: name, credits, expires')
    .option('--reports <folder>', 'charts of your own, as NN-name.sql and NN-name.vl.json')
    .option('--contract <file>', 'the promises, as YAML; those of the specification unless given')
    .option('--profile <file>', 'audit: what assay probe wrote of the deployment')
    .option('--png <folder>', 'write each chart as a picture into this folder too')
    .option('--json', 'print what was written as JSON')
    .action(async (page: PageName, runIds: readonly string[], options: Options) => {
      const out = options.out ?? `assay-${page}.html`
      const usage = usageScopeOf(options)
      const store = await openExistingStore(options.db)
      let pictures: readonly string[] = []
      try {
        const asked = {
          store,
          page,
          contract: loadContract(options.contract),
          runIds,
          timeZone: options.timezone,
          nowUs: Date.now() * 1000,
          usage,
          ...(options.reports === undefined ? {} : { reportsFolder: options.reports }),
          ...(options.profile === undefined
            ? {}
            : { profile: readProfileFile('--profile', options.profile) }),
        }
        if (options.format !== 'html') {
          const text = await makeText(asked, options.format)
          if (options.out === undefined) process.stdout.write(text)
          else writeFileSync(options.out, text)
          return
        }
        const warnings = [...(await writeReport({ ...asked, out })).warnings]
        if (options.png !== undefined) {
          const written = await writePictures({ ...asked, folder: options.png })
          pictures = written.files
          warnings.push(...written.warnings)
        }
        for (const warning of new Set(warnings)) process.stderr.write(`${warning}\n`)
      } finally {
        store.close()
      }
      process.stdout.write(
        options.json
          ? `${JSON.stringify({ page, out, pictures })}\n`
          : `${[out, ...pictures].join('\n')}\n`,
      )
    })
}
