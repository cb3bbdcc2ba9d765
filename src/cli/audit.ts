import { randomUUID } from 'node:crypto'
import { Command, Option } from 'commander'
import { type AuditReport, audit, isBroken } from '../audit/audit.ts'
import { jsonText, junitText, markdownText, sarifText } from '../audit/format/machine.ts'
import { reproductions } from '../audit/format/reproduce.ts'
import { terminalText } from '../audit/format/terminal.ts'
import { explanationOf } from '../audit/rules/explain.ts'
import { selectRules } from '../audit/rules/select.ts'
import { loadContract } from '../contract/load.ts'
import { openExistingStore } from '../store/open.ts'
import { exit } from './exit.ts'
import { readProfileFile } from './profile-file.ts'

interface Options {
  readonly db: string
  readonly rule: readonly string[]
  readonly explain?: boolean | string
  readonly contract?: string
  readonly profile?: string
  readonly format: keyof typeof formats
  readonly json?: boolean
  readonly strict?: boolean
}

const formats = {
  text: (report: AuditReport, commands: ReadonlyMap<string, string>) =>
    terminalText(report, commands, process.stdout.columns),
  json: jsonText,
  junit: junitText,
  sarif: sarifText,
  md: markdownText,
} as const

const collect = (value: string, all: readonly string[]) => [...all, ...value.split(',')]

export function auditCommand(): Command {
  return new Command('audit')
    .description('Holds recorded runs to the contract: every rule, its verdict and its evidence.')
    .argument(
      '[run...]',
      'ids of runs; every run against the base URL of the newest one unless given',
    )
    .option('--db <file>', 'the store', 'assay.duckdb')
    .option(
      '--rule <id>',
      'a rule such as BILL-11 or a family such as BILL; may be repeated',
      collect,
      [],
    )
    .option('--explain [rule]', 'print how rules are decided and what they cannot see')
    .option('--contract <file>', 'the promises, as YAML; those of the specification unless given')
    .option(
      '--profile <file>',
      'what assay probe wrote of the deployment; some rules say more by it',
    )
    .addOption(
      new Option('--format <format>', 'how to print').choices(Object.keys(formats)).default('text'),
    )
    .option('--json', 'the same as --format json')
    .option('--strict', 'exit with 3 for what is inconclusive, too')
    .action(async (runIds: readonly string[], options: Options) => {
      if (options.explain !== undefined) {
        const asked = typeof options.explain === 'string' ? options.explain.split(',') : []
        const rules = selectRules([...options.rule, ...asked])
        process.stdout.write(
          rules.map((rule) => explanationOf(rule, process.stdout.columns)).join('\n'),
        )
        return
      }
      const contract = loadContract(options.contract)
      const store = await openExistingStore(options.db)
      try {
        const report = await audit(store, {
          contract,
          ...(options.profile === undefined
            ? {}
            : { profile: readProfileFile('--profile', options.profile) }),
          runIds,
          rules: options.rule,
          auditId: randomUUID(),
          auditedAt: new Date(),
        })
        const text = formats[options.json ? 'json' : options.format]
        process.stdout.write(text(report, await reproductions(store, report)))
        const undecided = report.findings.some(
          ({ verdict, severity }) => verdict.verdict === 'inconclusive' && severity !== 'advice',
        )
        const failed = report.findings.some(isBroken) || (options.strict === true && undecided)
        process.exitCode = failed ? exit.failed : exit.ok
      } finally {
        store.close()
      }
    })
}
