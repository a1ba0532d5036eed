import { busOptions, withBroker, type BusOptions } from '@robokids/runtime/bus'
import { ConfigError, readConfig } from '@robokids/runtime/config'
import { applyStreams, describeStreams, operatorUser, type StreamSummary } from '@robokids/runtime/streams'
import { createLogger } from '@robokids/runtime/telemetry'
import { z } from 'zod'
import { OperatorError } from './operated-system.ts'
import { readSettings, streamSettings } from './settings.ts'

/** The broker of `npm start`, unless the environment says otherwise, and its operator. */
function access(): BusOptions {
  const env = process.env
  const local = { NATS_URL: `nats://127.0.0.1:${readSettings(env).NATS_PORT}`, ...streamSettings(env) }
  try {
    const config = readConfig(z.object({}), {
      NATS_USER: operatorUser,
      ...(env['NATS_URL'] === undefined ? local : {}),
      ...env,
      APP_ENV: 'local',
    })
    return busOptions(config, operatorUser, createLogger(operatorUser, 'silent'))
  } catch (error) {
    throw error instanceof ConfigError ? new OperatorError(error.message) : error
  }
}

async function asOperator<Result>(
  options: BusOptions,
  work: Parameters<typeof withBroker<Result>>[1],
): Promise<Result> {
  console.error(`The broker at ${options.url}:`)
  return withBroker(options, work).catch((error: unknown) => {
    throw new OperatorError(error instanceof Error ? error.message : String(error))
  })
}

/** Returns the state of all streams, and how each differs from the settings. @throws OperatorError */
export function readStreams(): Promise<StreamSummary[]> {
  const options = access()
  return asOperator(options, (manager) => describeStreams(manager, options.limits))
}

/** Gives all streams exactly the settings and the events of this version. @returns what was changed. @throws OperatorError */
export function changeStreams(): Promise<string[]> {
  const options = access()
  return asOperator(options, (manager) => applyStreams(manager, options.limits))
}
