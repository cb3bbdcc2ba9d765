import type { AuthHeader, AuthHeaders } from '../../../contract/contract.ts'
import { isAmong, refusalsFor } from '../../../contract/refusals.ts'
import { type Promised, promisedSql } from '../../../contract/request.ts'
import { usualOf } from '../../../contract/usual.ts'
import type { Evidence, Rule } from '../../rule.ts'
import { exchangesRule } from '../exchange-rule.ts'

const keyVariable = '$ASSAY_API_KEY'

/** A request with the real key in the header of its format, and none in the other header. */
function takesKey(
  id: string,
  format: Promised,
  section: string,
  headersOf: (auth: AuthHeaders) => { readonly own: AuthHeader; readonly other: AuthHeader },
): Rule {
  return exchangesRule({
    id,
    title: `The ${format} endpoint accepts the key in its own header`,
    section,
    needs: ['active'],
    promised: [`auth.${format}`],
    explain: `A valid key in the header that the specification names for ${format} must not get a 401, nor what else the contract has for a
key that is refused.
A key is valid if the same run generates with it at that time or later, on either
endpoint: a refusal counts only if the same key succeeds then or later. A 429 or 5xx decides nothing,
as it may come first (gap G-26), nor does a refusal for something else. A request that also has a key in the other format's header decides
nothing either, because which of the two counts is open (gap G-08).`,
    expected: 'an answer other than the refusal of a key',
    requires: `a ${format} request with a key that is served`,
    async judgeOf(_, evidence) {
      const served = await lastServed(evidence)
      const { own, other } = headersOf(usualOf(evidence.contract).auth)
      const ofKeys = refusalsFor('keys', evidence.contract)
      return ({ row }) => {
        const { status } = row
        if (row.endpoint !== format || status === null || row.requestHeaders === null)
          return undefined
        if (row.expects.endsWith('-key') || status === 429 || status >= 500) return undefined
        const headers = JSON.parse(row.requestHeaders) as Record<string, string>
        if (headers[own.name] !== `${own.prefix}${keyVariable}`) return undefined
        if (other.name !== own.name && headers[other.name] !== undefined) return undefined
        // A refusal for something else may come before the key is looked at.
        if (status < 300) return null
        if (status !== 401 && !isAmong(ofKeys, row)) return undefined
        const isValid = (served.get(`${row.runId}/${row.keyFp}`) ?? -1) >= row.sentUs
        return isValid ? `${status} for a key in its own header` : undefined
      }
    },
  })
}

/** When each key of each run last sent a successful generation, in the run's time. */
async function lastServed({ store, runIds }: Evidence): Promise<ReadonlyMap<string, number>> {
  const keys = await store.rows<{ key: string; sentUs: number }>(
    `SELECT run_id || '/' || key_fp AS key, max(sent_us)::DOUBLE AS "sentUs" FROM attempts
     WHERE list_contains($1::VARCHAR[], run_id) AND ${promisedSql}
       AND outcome = 'ok' AND expects NOT LIKE '%-key' AND key_fp IS NOT NULL
     GROUP BY key`,
    [JSON.stringify(runIds)],
  )
  return new Map(keys.map(({ key, sentUs }) => [key, sentUs]))
}

export const auth01 = takesKey('AUTH-01', 'chat', '§5.2', ({ chat, messages }) => ({
  own: chat,
  other: messages,
}))
export const auth02 = takesKey('AUTH-02', 'messages', '§5.3', ({ chat, messages }) => ({
  own: messages,
  other: chat,
}))
