// SPDX-License-Identifier: Apache-2.0
//! An implementation to begin with: Quantize of float32 to int8 or uint8 by one scale, as ONNX has it.
use super::{json::Json, Words};

fn half_to_even(v: f64) -> f64 {
    let away = v.round();
    if (v - v.trunc()).abs() == 0.5 && away % 2.0 != 0.0 { v.trunc() } else { away }
}

pub fn implement(group: &Json) -> Option<Words> {
    let (attributes, inputs) = (group.get("attributes"), group.get("inputs").list());
    let known = attributes.members().iter().all(|(key, _)| ["scales", "zps", "dtype"].contains(&key.as_str()));
    if group.get("op").text() != "Quantize" || !known || inputs.len() != 1 || inputs[0].get("dtype").text() != "float32" {
        return None;
    }
    let scale = attributes.get("scales").number()? as f32;
    let zero = if let Json::Null = attributes.get("zps") { 0.0 } else { attributes.get("zps").number()? };
    let (least, greatest) = match attributes.get("dtype").text() {
        "int8" => (-128.0, 127.0),
        "uint8" => (0.0, 255.0),
        _ => return None,
    };
    let code = |word: &str| -> Option<String> {
        let v = f32::from_bits(u32::from_str_radix(word, 16).ok()?) / scale;
        let code = if v.is_nan() { least } else { (half_to_even(f64::from(v)) + zero).clamp(least, greatest) };
        Some(format!("{:02x}", code as i32 & 255))
    };
    let y = inputs[0].get("bits").text().split(' ').map(code).collect::<Option<Vec<_>>>()?;
    Some(Words::from([("y".to_string(), y)]))
}
