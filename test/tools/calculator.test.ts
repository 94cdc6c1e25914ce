import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunningTool } from './fixtures/run-tool.ts'
import { openTool } from './fixtures/run-tool.ts'

type Question = [expression: string, answer: string, from?: string, to?: string]

async function expectAnswers(tool: RunningTool, questions: readonly Question[]): Promise<void> {
  for (const [expression, answer, from_unit, to_unit] of questions) {
    const units = from_unit === undefined || to_unit === undefined ? {} : { from_unit, to_unit }
    const { text } = await tool.succeed({ expression, ...units })
    assert.equal(text, answer)
  }
}

test('arithmetic is exact where that can be, and says where it is not', async (t) => {
  await expectAnswers(await openTool(t, 'calculator'), [
    ['0.1 + 0.2', '0.1 + 0.2 = 0.3'],
    ['1/3 + 1/7', '1/3 + 1/7 ≈ 0.47619047619047619048 (exactly 10/21)'],
    ['-2^2 + 2**-1', '-2^2 + 2**-1 = -3.5'],
    ['2^3^2', '2^3^2 = 512'],
    ['15% of 80 + 17 % 5', '15% of 80 + 17 % 5 = 14'],
    ['7 // 2 - (-7) // 2', '7 // 2 - (-7) // 2 = 7'],
    ['sqrt(16/9) * 3', 'sqrt(16/9) * 3 = 4'],
    ['sqrt(2)', 'sqrt(2) ≈ 1.4142135623730950488'],
    ['log(1000) + log2(1/8)', 'log(1000) + log2(1/8) = 0'],
    ['sin(pi) + cos(pi/3)', 'sin(pi) + cos(pi/3) ≈ 0.5'],
    ['atan(1)*4', 'atan(1)*4 ≈ 3.1415926535897932385'],
    ['root(-27, 3) + choose(49, 6)', 'root(-27, 3) + choose(49, 6) = 13983813'],
    ['round(2.675, 2)', 'round(2.675, 2) = 2.68'],
    ['20! / 18!', '20! / 18! = 380'],
  ])
})

test('units that measure the same thing are converted, by their definitions', async (t) => {
  await expectAnswers(await openTool(t, 'calculator'), [
    ['26.2', '26.2 mi = 42.1648128 km', 'mi', 'km'],
    ['100', '100 F ≈ 37.777777777777777778 C (exactly 340/9)', 'F', 'C'],
    ['1', '1 GiB = 1073.741824 MB', 'GiB', 'MB'],
    ['90', '90 km/h = 25 m/s', 'km/h', 'm/s'],
    ['1', '1 kWh = 3.6 MJ', 'kWh', 'MJ'],
    ['720', '720 deg = 2 turn', 'deg', 'turn'],
    ['180', '180 deg ≈ 3.1415926535897932385 rad', 'deg', 'rad'],
    ['2^2', '2^2 = 4 Kilometers = 4000 metres', 'Kilometers', 'metres'],
  ])
})

test('digits and data tell more than the text', async (t) => {
  const tool = await openTool(t, 'calculator')
  const { data } = await tool.succeed({ expression: '1/3', digits: 5 })
  assert.deepEqual(data, { result: '0.33333', exact: false, fraction: '1/3', number: 1 / 3, unit: null })
  const large = await tool.succeed({ expression: '1000!' })
  assert.equal(large.text, '1000! ≈ 4.0238726007709377354e+2567')
})

test('what cannot be worked out is refused with what to mend, in no time', async (t) => {
  const tool = await openTool(t, 'calculator')
  const refusals: [string, RegExp][] = [
    ['9**9**9', /^The power has more than about 3,900 digits\.$/],
    ['(2^12000)!', /^Factorials are worked out from 0 to 1000\.$/],
    ['1e999999999', /out of range/],
    ['2^12999 * 2^12999', /more than about 3,900 digits/],
    ['1/0', /^Division by zero\.$/],
    ['(-8)^(1/3)', /odd roots use root/],
    ['('.repeat(1_000), /nested more than 50 deep/],
    [`${'2^'.repeat(900)}2`, /nested more than 50 deep/],
    ['1+'.repeat(1_500), /at most 2000/],
    ['__import__("os").system("id")', /'_' is not understood/],
    ['sqr(2)', /Did you mean sqrt\?/],
    ['5 km', /'km' is not expected after '5'/],
    ['1,000 * 2', /write 1000, not 1,000/],
    ['2 +', /ends too early/],
    ['', /empty/],
  ]
  for (const [expression, message] of refusals)
    assert.match((await tool.fail({ expression })).message, message)
  const units: [string, string, RegExp][] = [
    ['kg', 'm', /do not measure the same thing: the first is g, the second m\./],
    ['ton', 'kg', /tonne, short_ton or long_ton/],
    ['USD', 'EUR', /Currencies are not converted/],
    ['m^99', 'm', /up to 12/],
    ['(m', 'm', /'\)' is missing/],
  ]
  for (const [from_unit, to_unit, message] of units)
    assert.match((await tool.fail({ expression: '1', from_unit, to_unit })).message, message)
  assert.match(
    (await tool.fail({ expression: '-300', from_unit: 'C', to_unit: 'K' })).message,
    /absolute zero/,
  )
})
