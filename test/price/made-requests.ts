import { expect } from 'vitest'
import type { ModelPrice } from '../../src/contract/prices.ts'
import { readPrices } from '../../src/contract/read-prices.ts'
import { readNumber } from '../../src/money/rational.ts'
import type { PricedRequest, StatedCost } from '../../src/price/judge/request.ts'
import type { JsonObject } from '../../src/user/json.ts'

export function modelOf(fields: Readonly<Record<string, unknown>>, currency = 'USD'): ModelPrice {
  const { terms, issues } = readPrices({ currency }, [{ id: 'm', fields: fields as JsonObject }])
  expect(issues).toEqual([])
  return terms.models[0]!
}

export function statement(text: string, place = 'body usage.cost'): StatedCost {
  return {
    place,
    text,
    value: readNumber(text)!,
    decimals: text.split('.')[1]?.length ?? 0,
  }
}

/** A plain successful request of model `m`. */
export function request(change: Partial<PricedRequest> = {}): PricedRequest {
  const at = Date.parse('2026-11-25T12:00:00Z')
  return {
    runId: 'a',
    slot: 0,
    retry: 0,
    requestedModel: 'm',
    returnedModel: 'm',
    isStream: false,
    outcomes: ['success'],
    startMs: at,
    headMs: at,
    endMs: at,
    serviceTier: null,
    isTierRead: true,
    hasHead: true,
    usage: null,
    eventUsages: [],
    receivedEvents: 0,
    receivedBytes: null,
    askedBytes: null,
    prompt: 'p',
    body: null,
    answer: null,
    maxOutputTokens: null,
    thinking: '',
    mayCall: false,
    areCallsRead: true,
    shownCalls: [],
    isFreeRepeat: false,
    isRepeat: false,
    isSurelyAgain: false,
    once: null,
    askedMs: 0,
    account: 'main',
    key: 'main',
    responseId: null,
    header: () => undefined,
    stated: [],
    ...change,
  }
}
