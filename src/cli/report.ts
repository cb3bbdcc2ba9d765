import { Argument, Command, Option } from 'commander'
import { type PageName, pageNames, writeReport } from '../report/page.ts'
import { openStore } from '../store/open.ts'

interface Options {
  readonly db: string
  readonly out?: string
  readonly timezone: string
  readonly reports?: string
  readonly json?: boolean
}

/** `assay report <page> [run…]`: a page that needs nothing else, made from the store. */
export function reportCommand(): Command {
  return new Command('report')
    .description('Make a page about runs: one HTML file that opens offline.')
    .addArgument(new Argument('<page>', 'which page').choices(pageNames))
    .argument('[run...]', 'runs that it tells of; the last one unless given')
    .option('--db <file>', 'the store', 'assay.duckdb')
    .option('--out <file>', 'where to write it; assay-<page>.html unless given')
    .addOption(new Option('--timezone <zone>', 'IANA zone of hours and days').default('UTC'))
    .option('--reports <folder>', 'charts of your own, as NN-name.sql and NN-name.vl.json')
    .option('--json', 'print what was written as JSON')
    .action(async (page: PageName, runIds: readonly string[], options: Options) => {
      const out = options.out ?? `assay-${page}.html`
      const store = await openStore(options.db)
      try {
        const { warnings } = await writeReport({
          store,
          page,
          runIds,
          out,
          timeZone: options.timezone,
          ...(options.reports === undefined ? {} : { reportsFolder: options.reports }),
        })
        for (const warning of warnings) process.stderr.write(`${warning}\n`)
      } finally {
        store.close()
      }
      process.stdout.write(options.json ? `${JSON.stringify({ page, out })}\n` : `${out}\n`)
    })
}
