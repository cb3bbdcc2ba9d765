import { isBaseUrl, serviceUrl, shownBaseUrl } from '../../contract/base-url.ts'
import type { Contract } from '../../contract/contract.ts'
import { loadContract } from '../../contract/load.ts'
import { isHeaderValue } from '../../contract/request.ts'
import { defaultContract } from '../../public/contract.ts'
import type { Scenario, TargetName } from '../../scenario/scenario.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { userError } from '../../user/user-error.ts'

/** The base URL of the service. @throws UserError for anything else; the message shows no secret */
export function baseUrlOf(text: string | undefined, contract: Contract = defaultContract): string {
  if (text !== undefined && isBaseUrl(text)) return serviceUrl(text, contract)
  throw userError.usage(
    `--base-url: expected the address of a service, such as https://api.example.com; got ${text === undefined ? 'nothing' : shownBaseUrl(text)}.`,
  )
}

/**
 * The contracts of two targets.
 *
 * @param path of the contract of a target that names none; undefined for the default one
 */
export function targetContracts(
  { a, b }: NonNullable<Scenario['targets']>,
  path: string | undefined,
): Readonly<Record<TargetName, Contract>> {
  return { a: loadContract(a.contract ?? path), b: loadContract(b.contract ?? path) }
}

/** The key in ASSAY_API_KEY. @throws UserError if there is none, or if it is not valid in a header */
export function apiKey(): string {
  const key = process.env.ASSAY_API_KEY?.trim() ?? ''
  if (!isHeaderValue(key)) {
    throw userError.usage(
      'The variable ASSAY_API_KEY is not valid in a header: expected printable ASCII on one line. Put one API key there, and nothing more.',
    )
  }
  secrets.add(key)
  if (key !== '') return key
  throw userError.usage(
    'The variable ASSAY_API_KEY is not set. Set it to an API key of the service.',
  )
}
