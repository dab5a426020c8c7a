// SPDX-License-Identifier: Apache-2.0
//! An implementation to begin with: Quantize of float32 to int8 or uint8 by one scale, as ONNX has it.
use serde_json::Value;
use std::collections::HashMap;

pub fn implement(group: &Value) -> Option<HashMap<String, Vec<String>>> {
    let (attributes, inputs) = (group["attributes"].as_object()?, group["inputs"].as_array()?);
    let known = attributes.keys().all(|key| ["scales", "zps", "dtype"].contains(&key.as_str()));
    if group["op"] != "Quantize" || !known || inputs.len() != 1 || inputs[0]["dtype"] != "float32" {
        return None;
    }
    let scale = attributes.get("scales")?.as_f64()? as f32;
    let zero = attributes.get("zps").map_or(Some(0), Value::as_i64)? as f32;
    let (least, greatest) = match attributes.get("dtype")?.as_str()? {
        "int8" => (-128.0, 127.0),
        "uint8" => (0.0, 255.0),
        _ => return None,
    };
    let code = |word: &str| -> Option<String> {
        let v = f32::from_bits(u32::from_str_radix(word, 16).ok()?) / scale;
        let code = if v.is_nan() { least } else { (f64::from(v).round_ties_even() + f64::from(zero)).clamp(least, greatest) };
        Some(format!("{:02x}", code as i32 & 255))
    };
    let y = inputs[0]["bits"].as_str()?.split(' ').map(code).collect::<Option<Vec<_>>>()?;
    Some(HashMap::from([("y".to_string(), y)]))
}
