import type { Content } from '../reading/blocks.ts'
import type { Wiring } from '../reading/wiring.ts'
import { guides } from './guide-cards.ts'
import angleLines from './servo-angles.ino?highlight'
import serialLines from './servo-serial.ino?highlight'
import sweepLines from './servo-sweep.ino?highlight'

export const servoWiring: Wiring = {
  id: 'servo',
  title: 'A microcontroller board and a small servo with three wires',
  steps: [
    {
      text: 'Unplug the board. Press an arm onto the servo’s shaft, without the screw for now.',
      parts: [{ kind: 'servo' }],
    },
    {
      text: ['The orange wire (on some servos yellow or white) is the signal: to ', { strong: 'pin 9' }, '.'],
      wire: { from: 'servo.signal', to: 'board.9', color: 'orange' },
    },
    {
      text: ['The red wire in the middle is the power: to ', { strong: '5V' }, '.'],
      wire: { from: 'servo.5V', to: 'board.5V', color: 'red' },
    },
    {
      text: ['The brown wire (on some servos black) is the ground: to ', { strong: 'GND' }, '.'],
      wire: { from: 'servo.GND', to: 'board.power-GND', color: 'black' },
    },
  ],
}

export const servoGuide: Content = {
  kicker: 'Guide',
  title: guides.servo.title,
  lead: 'A servo is a motor that knows where it is. You tell it an angle from 0 to 180 degrees, it turns there and holds. Arms, grippers, ears and doors are made of servos.',
  picture: guides.servo.picture,
  accent: 'orange',
  parent: { to: '/news-guides', text: 'News & Guides' },
  contents: true,
  sections: [
    {
      id: 'parts',
      title: 'What you need',
      blocks: [
        {
          kind: 'list',
          items: [
            '1 microcontroller board: an Arduino Uno, or one with the same pins',
            '1 micro servo for 5 V with three wires, such as an SG90, with its arms',
            '3 jumper wires that fit into the servo’s plug',
            'A USB cable, and a computer with the Arduino IDE; the Servo library comes with it',
          ],
        },
      ],
    },
    {
      id: 'wiring',
      title: 'Wire it',
      blocks: [
        { kind: 'wiring', wiring: servoWiring },
        {
          kind: 'note',
          title: 'One small servo, yes; two, no',
          text: 'The board’s 5V pin can feed one micro servo whose arm moves freely: that takes about 0.2 A. Held still it needs about 0.7 A, and a USB port gives 0.5 A. Against a load, and for a bigger servo or a second one, use a separate 5 V supply: its plus goes to the red wires and not to the board, its minus to the brown wires and to GND of the board.',
        },
      ],
    },
    {
      id: 'angles',
      title: 'Sketch 1: fixed angles',
      blocks: [
        'The servo goes to 0, 90 and 180 degrees and waits a second at each.',
        { kind: 'sketch', sketch: { name: 'servo-angles.ino', lines: angleLines } },
      ],
    },
    {
      id: 'sweep',
      title: 'Sketch 2: a smooth sweep',
      blocks: [
        [
          'One degree at a time, there and back. Make ',
          { code: 'stepDelay' },
          ' smaller and it is quick, larger and it is slow.',
        ],
        { kind: 'sketch', sketch: { name: 'servo-sweep.ino', lines: sweepLines } },
      ],
    },
    {
      id: 'serial',
      title: 'Sketch 3: the angle that you type',
      blocks: [
        'Open the Serial Monitor at 9600 baud, set the line ending to New Line, type a number and press Enter. Anything that is not a number from 0 to 180 is politely refused: a robot should never do what nobody meant.',
        { kind: 'sketch', sketch: { name: 'servo-serial.ino', lines: serialLines } },
      ],
    },
    {
      id: 'tips',
      title: 'Good to know',
      blocks: [
        {
          kind: 'list',
          items: [
            'Center first: send the servo to 90, then press the arm on so that it points where the middle should be.',
            'Never turn the shaft by force while it is powered. Its gears are tiny.',
            'Many servos cannot quite reach 0 and 180. If yours buzzes at the ends, stay between 10 and 170.',
            [
              'While a servo is attached, ',
              { code: 'analogWrite' },
              ' does not work on pins 9 and 10: the Servo library uses their clock.',
            ],
          ],
        },
      ],
    },
    {
      id: 'troubleshooting',
      title: 'When it does not work',
      blocks: [
        {
          kind: 'troubles',
          items: [
            {
              symptom: 'The servo does not move',
              help: 'Unplug the board and check the three wires: orange to pin 9, red to 5V, brown to GND. A reversed plug is the usual reason.',
            },
            {
              symptom: 'It trembles or buzzes',
              help: 'It pushes against something, or wants to go past its end. Give it room, and stay between 10 and 170.',
            },
            {
              symptom: 'The board restarts when it moves',
              help: 'It draws more than USB gives. Take the load off the arm, try another USB port, or give the servo its own 5 V supply.',
            },
            {
              symptom: 'The arm points the wrong way',
              help: 'Nothing is broken: send it to 90, pull the arm off, and press it on again where you want the middle.',
            },
            {
              symptom: 'The Serial Monitor shows odd characters',
              help: ['Its speed does not match. Choose 9600 baud, as in ', { code: 'Serial.begin(9600)' }, '.'],
            },
          ],
        },
      ],
    },
    {
      id: 'next',
      title: 'Project ideas',
      blocks: [
        {
          kind: 'list',
          items: [
            'A hand that waves when somebody presses the button from the light switch guide.',
            'A gate for toy cars: 0 degrees is closed, 90 is open.',
            'A clock with one hand that shows how much homework time is left.',
            'Ears for a robot: two servos that turn toward each other. Remember to give them their own supply.',
          ],
        },
      ],
    },
  ],
  next: [
    { to: '/news-guides', text: 'All news and guides' },
    { to: '/robokidslanding', text: 'View Classes' },
  ],
}
