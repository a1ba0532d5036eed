// The servo goes to the angle that you type.
#include <Servo.h>

const int servoPin = 9;
Servo servo;

void setup() {
  Serial.begin(9600);
  servo.attach(servoPin);
  servo.write(90);
  Serial.println("Type an angle from 0 to 180.");
}

void loop() {
  if (Serial.available() == 0) return;

  String line = Serial.readStringUntil('\n');
  line.trim();
  if (line.length() == 0) return;

  long angle = line.toInt();
  // Written down again it is what was typed: "12x" is not.
  bool isNumber = String(angle) == line;
  if (!isNumber || angle < 0 || angle > 180) {
    Serial.println("Please type a number from 0 to 180.");
    return;
  }
  servo.write((int)angle);
  Serial.print("Turned to ");
  Serial.println(angle);
}
