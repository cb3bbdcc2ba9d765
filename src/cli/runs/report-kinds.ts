import type { PageName } from '../../report/pages.ts'
import { userError } from '../../user/user-error.ts'
import { words } from '../../user/words.ts'
import type { Options } from '../commands/report.ts'
import { flagOf } from './refuse-options.ts'

type Name = keyof Options
type Format = Options['format']

/** What `report` makes: the page, and for whom it is. */
interface Kind {
  /** As a user asks for it. */
  readonly name: string
  readonly takesRuns: boolean
  /** The options that do something with each format, beside those of every kind. A format that is absent is refused. */
  readonly takes: Readonly<Partial<Record<Format, readonly Name[]>>>
}

const ofAll = words('db for format json')
const ofFiles = words('out upload')
const ofCharts = words('timezone reports png')
const ofUsage = words('timezone from to by source account key engine quarters keyNames contract')
const ofHeld = words('grants settings')
const ofCustomers = words('by settings from to engine contract')

const inText = (takes: readonly Name[]) => ({ md: takes, json: takes, csv: takes })

const ofRuns = (page: 'launch' | 'run'): Kind => ({
  name: `report ${page}`,
  takesRuns: true,
  takes: {
    html: [...ofFiles, ...ofCharts, 'contract'],
    // Rows have times and counts; the others tell what they cost, too.
    ...{ ...inText([...ofFiles, 'contract']), csv: ofFiles },
  },
})

const kinds = {
  launch: ofRuns('launch'),
  run: ofRuns('run'),
  audit: {
    name: 'report audit',
    takesRuns: true,
    takes: {
      html: [...ofFiles, ...ofCharts, 'contract', 'profile'],
      // Rows are findings; the others tell the credits, too.
      ...{ ...inText([...ofFiles, 'contract']), csv: ofFiles },
    },
  },
  usage: {
    name: 'report usage',
    takesRuns: true,
    takes: {
      html: [...ofFiles, ...ofUsage, ...ofHeld, 'creditPrice', 'reports', 'png'],
      json: [...ofFiles, ...ofUsage, ...ofHeld, 'creditPrice'],
      md: [...ofFiles, ...ofUsage, ...ofHeld],
      // Rows are days of use; the others tell what is held, too.
      csv: [...ofFiles, ...ofUsage],
    },
  },
  customers: {
    name: 'report usage --by account --settings',
    takesRuns: false,
    takes: {
      html: [...ofFiles, ...ofCustomers, 'each'],
      ...inText([...ofFiles, ...ofCustomers]),
    },
  },
  customer: {
    name: 'report usage --for customer',
    takesRuns: false,
    takes: { html: [...ofFiles, ...ofCustomers, 'account', 'key'] },
  },
  vendor: {
    name: 'report audit --for vendor',
    takesRuns: true,
    takes: { html: words('out contract profile log alone anonymous choose') },
  },
} as const satisfies Readonly<Record<string, Kind>>

export type KindName = keyof typeof kinds

/**
 * What the options ask for.
 *
 * @param given the options that the user wrote
 * @throws UserError for options, runs and a format that do nothing with it
 */
export function kindOf(
  page: PageName,
  runIds: readonly string[],
  options: Options,
  given: readonly string[],
): KindName {
  const kindName = named(page, options)
  const kind: Kind = kinds[kindName]
  const own = kind.takes[options.format]
  if (own === undefined)
    throw userError.usage(
      `--format ${options.format}: ${kind.name} has no such format. Leave it out.`,
    )
  const asked = `${kind.name}${options.format === 'html' ? '' : ` --format ${options.format}`}`
  if (runIds.length > 0 && !kind.takesRuns)
    throw userError.usage(`${runIds[0]}: ${asked} takes no runs. Leave it out.`)
  const takes: readonly string[] = [...ofAll, ...own]
  const idle = given.find((name) => !takes.includes(name))
  if (idle !== undefined)
    throw userError.usage(
      `--${flagOf(idle)} does nothing with ${asked}. Leave it out, or use ${takersOf(idle)}.`,
    )
  const isPrinted = options.format !== 'html' && options.out === undefined
  const ofFile = isPrinted ? given.find((name) => name === 'upload' || name === 'json') : undefined
  if (ofFile !== undefined)
    throw userError.usage(`--${ofFile} with --format ${options.format} needs --out: a file.`)
  return kindName
}

function named(page: PageName, options: Options): KindName {
  if (options.for === 'customer') {
    if (page === 'usage') return 'customer'
    throw userError.usage(`--for customer is of the page usage, not of ${page}.`)
  }
  if (options.for === 'vendor') {
    if (page === 'audit') return 'vendor'
    throw userError.usage(`--for vendor is of the page audit, not of ${page}.`)
  }
  const isOfAll = page === 'usage' && options.by === 'account' && options.settings !== undefined
  return isOfAll ? 'customers' : page
}

/** The pages with which an option does something: `report launch, report audit or report run --format html`. */
function takersOf(option: string): string {
  const takers = Object.values<Kind>(kinds).flatMap(({ name, takes }) => {
    const formats = Object.entries(takes).flatMap(([format, names]: [string, readonly string[]]) =>
      names.includes(option) ? [format] : [],
    )
    if (formats.length === 0) return []
    const isOfAll = formats.length === Object.keys(takes).length
    return [isOfAll ? name : `${name} --format ${formats.join('|')}`]
  })
  return takers.join(' or ').replace(/ or (?=.* or )/g, ', ')
}
