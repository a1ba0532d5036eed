/**
 * Decoders for request parameters. Each converts a form value to a typed one or throws Stripe's error,
 * with the parameter's name in brackets: `line_items[0][quantity]`.
 */
import { invalidRequest } from './errors.ts'
import type { FormValue } from './form-body.ts'
import type { Metadata } from './types.ts'

export type Decoder<T> = (value: FormValue | undefined, param: string) => T
export type Decoded<D> = D extends Decoder<infer T> ? T : never

export function missing(param: string) {
  return invalidRequest(`Missing required param: ${param}.`, { code: 'parameter_missing', param })
}

function cannotUnset(param: string) {
  return invalidRequest(
    `You passed an empty string for '${param}'. We assume empty values are an attempt to unset a parameter; however '${param}' cannot be unset. You should remove '${param}' from your request or supply a non-empty value.`,
    { code: 'parameter_invalid_empty', param },
  )
}

function shown(value: FormValue): string {
  return typeof value === 'string' ? value.slice(0, 200) : '{...}'
}

function text(value: FormValue | undefined, param: string): string {
  if (value === undefined) throw missing(param)
  if (typeof value !== 'string') throw invalidRequest('Invalid string: {...}', { param })
  if (value === '') throw cannotUnset(param)
  return value
}

export function string(maxLength = 5000): Decoder<string> {
  return (value, param) => {
    const given = text(value, param)
    if (given.length > maxLength) {
      throw invalidRequest(
        `Invalid string: ${given.slice(0, 10)}...${given.slice(-5)}; must be at most ${maxLength} characters`,
        { code: 'parameter_invalid_string_too_long', param },
      )
    }
    return given
  }
}

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Decoder<number> {
  return (value, param) => {
    const given = text(value, param)
    const number = /^-?\d{1,16}$/.test(given) ? Number(given) : Number.NaN
    if (!Number.isSafeInteger(number)) {
      throw invalidRequest(`Invalid integer: ${shown(given)}`, { code: 'parameter_invalid_integer', param })
    }
    if (number < min) {
      throw invalidRequest(
        min === 0 ? 'Invalid non-negative integer' : `This value must be greater than or equal to ${min}.`,
        { code: 'parameter_invalid_integer', param },
      )
    }
    if (number > max) {
      throw invalidRequest(`This value must be less than or equal to ${max}.`, {
        code: 'parameter_invalid_integer',
        param,
      })
    }
    return number
  }
}

export function boolean(): Decoder<boolean> {
  return (value, param) => {
    const given = text(value, param)
    if (given !== 'true' && given !== 'false') throw invalidRequest(`Invalid boolean: ${shown(given)}`, { param })
    return given === 'true'
  }
}

export function oneOf<const T extends string>(values: readonly T[]): Decoder<T> {
  return (value, param) => {
    const given = text(value, param)
    const found = values.find((one) => one === given)
    if (found === undefined) {
      const name = /\[?([^[\]]+)\]?$/.exec(param)?.[1] ?? param
      const list = values.length > 1 ? `one of ${values.slice(0, -1).join(', ')}, or ${values.at(-1)}` : values[0]
      throw invalidRequest(`Invalid ${name}: must be ${list}`, { param })
    }
    return found
  }
}

export function httpUrl(): Decoder<string> {
  return (value, param) => {
    const given = string()(value, param)
    if (!URL.canParse(given) || !/^https?:\/\//i.test(given)) {
      throw invalidRequest('Not a valid URL', { code: 'url_invalid', param })
    }
    return given
  }
}

export function isEmail(value: string): boolean {
  return value.length <= 800 && /^[^\s@<>"(),:;\\]+@[^\s@<>"(),:;\\]+\.[^\s@<>"(),:;\\.]{2,}$/.test(value)
}

export function email(): Decoder<string> {
  return (value, param) => {
    const given = text(value, param)
    if (!isEmail(given)) {
      throw invalidRequest(`Invalid email address: ${shown(given)}`, { code: 'email_invalid', param })
    }
    return given
  }
}

/** An empty string unsets the parameter: null. */
export function clearable<T>(decode: Decoder<T>): Decoder<T | null> {
  return (value, param) => (value === '' ? null : decode(value, param))
}

export function optional<T>(decode: Decoder<T>): Decoder<T | undefined> {
  return (value, param) => (value === undefined ? undefined : decode(value, param))
}

/** A documented parameter whose effect is not simulated: only the value `off` is accepted. */
export function notSimulated(off?: string): Decoder<undefined> {
  return (value, param) => {
    if (value === undefined || value === off) return undefined
    throw invalidRequest(`The payment simulator does not support '${param}'.`, { code: 'parameter_unknown', param })
  }
}

/** An update of metadata: null unsets a key; null instead of an object unsets all. */
export type MetadataChange = Record<string, string | null> | null

/** Up to 50 keys of 40 characters with values of 500; an empty value unsets a key, an empty string all keys. */
export function metadata(): Decoder<MetadataChange> {
  return (value, param) => {
    if (value === '') return null
    const found: Record<string, string | null> = {}
    if (value === undefined) return found
    if (typeof value === 'string') throw invalidRequest('Invalid object', { param })
    for (const [key, entry] of Object.entries(value)) {
      if (typeof entry !== 'string') {
        throw invalidRequest('Metadata values must be strings, but you passed a hash.', {
          param: `${param}[${key}]`,
        })
      }
      if (key.length > 40) {
        throw invalidRequest(
          `Metadata keys can have up to 40 characters, but you passed in a key that is ${key.length} characters. Invalid key: ${key.slice(0, 60)}`,
          { param },
        )
      }
      if (entry.length > 500) {
        throw invalidRequest(
          `Metadata values can have up to 500 characters, but you passed in a value that is ${entry.length} characters. Invalid value: ${entry.slice(0, 40)}...`,
          { param: `${param}[${key}]` },
        )
      }
      found[key] = entry === '' ? null : entry
    }
    if (Object.keys(found).length > 50) {
      throw invalidRequest('Metadata can have up to 50 keys.', { param })
    }
    return found
  }
}

/** Applies an update to metadata. */
export function mergeMetadata(old: Metadata, change: MetadataChange | undefined): Metadata {
  if (change === null) return {}
  const merged: Metadata = {}
  for (const [key, value] of Object.entries({ ...old, ...change })) {
    if (value !== null) merged[key] = value
  }
  return merged
}

export function list<T>(decode: Decoder<T>, maxLength = 100): Decoder<T[]> {
  return (value, param) => {
    if (value === undefined) throw missing(param)
    if (value === '') throw cannotUnset(param)
    if (typeof value === 'string' || Object.keys(value).some((key) => !/^\d+$/.test(key))) {
      throw invalidRequest('Invalid array', { param })
    }
    const indexes = Object.keys(value).sort((a, b) => Number(a) - Number(b))
    if (indexes.length > maxLength) {
      throw invalidRequest(`Array ${param} exceeded maximum ${maxLength} allowed elements.`, { param })
    }
    return indexes.map((index) => decode(value[index], `${param}[${index}]`))
  }
}

export type Shape = Record<string, Decoder<unknown>>
export type Fields<S extends Shape> = { [K in keyof S]: Decoded<S[K]> }

/** A hash of named parameters; unknown names are rejected. */
export function object<S extends Shape>(shape: S): Decoder<Fields<S>> {
  return (value, param) => {
    if (value === undefined) throw missing(param)
    if (typeof value === 'string') throw invalidRequest('Invalid object', { param })
    const unknown = Object.keys(value)
      .filter((key) => !Object.hasOwn(shape, key))
      .map((key) => nested(param, key).slice(0, 200))
    if (unknown.length > 0) {
      throw invalidRequest(
        `Received unknown parameter${unknown.length > 1 ? 's' : ''}: ${unknown.slice(0, 10).join(', ')}`,
        { code: 'parameter_unknown', param: unknown[0] ?? param },
      )
    }
    const fields: Record<string, unknown> = {}
    for (const [key, decode] of Object.entries(shape)) {
      fields[key] = decode(value[key], nested(param, key))
    }
    return fields as Fields<S>
  }
}

function nested(param: string, key: string): string {
  return param === '' ? key : `${param}[${key}]`
}

/** `created=1700000000`, or a range `created[gte]=…`. */
export function timeRange(): Decoder<(seconds: number) => boolean> {
  const second = optional(integer(0))
  const range = object({ gt: second, gte: second, lt: second, lte: second })
  return (value, param) => {
    if (value === undefined) return () => true
    if (typeof value === 'string') {
      const exact = integer(0)(value, param)
      return (seconds) => seconds === exact
    }
    const { gt = -1, gte = 0, lt = Infinity, lte = Infinity } = range(value, param)
    return (seconds) => seconds > gt && seconds >= gte && seconds < lt && seconds <= lte
  }
}

/** The parameters of every list. */
export const listParams = {
  limit: optional(integer(1, 100)),
  starting_after: optional(string()),
  ending_before: optional(string()),
  expand: optional(list(string())),
}

export const expandParam = { expand: optional(list(string())) }
